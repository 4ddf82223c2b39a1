import type { Accounts } from '@troupe/accounts';
import { closeAll, createOutbound, serveOpenApi, type BackendClient, type Server } from '@troupe/kernel';
import type { WebDeps } from '../deps.ts';
import { dashboardRoutes } from './dashboard.ts';
import { healthRoutes } from './health/routes.ts';
import { createHealth } from './health/service.ts';
import { createMail, type MailRoom } from './mail.ts';
import { mailNotices } from './notices/mails.ts';
import { noticeRoutes } from './notices/routes.ts';
import { createNotices } from './notices/service.ts';
import { overviewRoutes } from './overview/routes.ts';
import { createOverview } from './overview/service.ts';
import { deliverPushes } from './push/delivery.ts';
import { keyCipher } from './push/keys.ts';
import { pushRoutes } from './push/routes.ts';
import { createPush } from './push/service.ts';
import { referenceRoutes } from './reference.ts';
import { deliverWebhooks, secretCipher } from './webhooks/delivery.ts';
import { webhookRoutes } from './webhooks/routes.ts';
import { createWebhooks } from './webhooks/service.ts';

interface PlatformDeps extends WebDeps {
  accounts: Accounts;
  backend: BackendClient;
}

export interface Platform {
  mail: MailRoom;
  /** What tells of all endpoints, and what works by itself: called when every area is there. */
  finish: () => Promise<{ close: () => Promise<void> }>;
}

/** What belongs to no area: health, mail, notices, the daily view, pages and their reference. */
export function wirePlatform(server: Server, deps: PlatformDeps): Platform {
  const { accounts, backend, clock, counters, db, jobs, listener, secrets, settings, url, version } = deps;
  const health = createHealth({ db, backend, counters, hasRedis: settings.REDIS_URL !== undefined, clock });
  const mail = createMail({ ...deps, isUser: async (tx, email) => (await accounts.users.byEmail(tx, email)) !== null });
  healthRoutes(server, health, clock);
  noticeRoutes(server, createNotices({ db, clock, listener }));
  const cipher = secretCipher(secrets.walletKey);
  const plainAllowed = server.loopback;
  webhookRoutes(server, createWebhooks({ db, jobs, clock, cipher, plainAllowed }));
  const pushCipher = keyCipher(secrets.walletKey);
  let pushes: ReturnType<typeof deliverPushes> | undefined;
  const tell = () => pushes?.look();
  pushRoutes(server, createPush({ db, clock, cipher: pushCipher, plainAllowed, tell }));
  overviewRoutes(server, createOverview({ db, clock, health: () => health.read() }));
  return {
    mail,
    async finish() {
      serveOpenApi(server, 'Troupe web API', version);
      referenceRoutes(server, version);
      await dashboardRoutes(server);
      // Where only people on this machine use the platform, their own servers may be told.
      const outbound = createOutbound({ allowLoopback: plainAllowed });
      const mails = mailNotices({ ...deps, mail, baseUrl: url });
      const webhooks = deliverWebhooks({ ...deps, outbound, cipher });
      pushes = deliverPushes({ ...deps, outbound, cipher: pushCipher, subject: subjectOf(url, settings.MAIL_FROM) });
      return { close: () => closeAll([mails, webhooks, pushes!, outbound]) };
    },
  };
}

/** How a push service reaches whoever runs this. */
function subjectOf(url: string, mailFrom: string | undefined): string {
  if (url.startsWith('https:')) return url;
  return `mailto:${/[^\s<>]+@[^\s<>]+/.exec(mailFrom ?? '')?.[0] ?? 'no-reply@localhost'}`;
}
