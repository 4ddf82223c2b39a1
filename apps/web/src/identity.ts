import type { Accounts } from '@troupe/accounts';
import type { Server } from '@troupe/kernel';
import { createAttempts } from './attempts.ts';
import { createBots } from './bots.ts';
import type { WebDeps } from './deps.ts';
import { createFailedSignIns } from './failed-sign-ins.ts';
import { adminRoutes } from './features/admin/routes.ts';
import { createAdmin } from './features/admin/service.ts';
import { auditRoutes } from './features/audit/routes.ts';
import { createAuditService } from './features/audit/service.ts';
import { inviteRoutes } from './features/invites/routes.ts';
import { createInvites } from './features/invites/service.ts';
import { keyRoutes } from './features/keys/routes.ts';
import { createKeys } from './features/keys/service.ts';
import { passwordRoutes } from './features/password/routes.ts';
import { createPasswordService } from './features/password/service.ts';
import { registerRoutes } from './features/register/routes.ts';
import { createRegistration } from './features/register/service.ts';
import { sessionRoutes } from './features/session/routes.ts';
import { createSessionService } from './features/session/service.ts';
import { settingsRoutes } from './features/settings/routes.ts';
import { createSettings } from './features/settings/service.ts';
import { createMail, type MailRoom } from './mail.ts';

export interface IdentityDeps extends Omit<WebDeps, 'listener' | 'backendUrl' | 'version'> {
  accounts: Accounts;
}

/** Wires the slices about people: who they are, how they prove it, what they may. */
export function identityRoutes(server: Server, deps: IdentityDeps): { mail: MailRoom } {
  const { accounts, settings, secrets, counters, db, clock, url } = deps;
  const baseUrl = settings.BASE_URL ?? url;
  const mail = createMail(deps);
  const bots = createBots({ key: settings.BOT_CHALLENGE_KEY, counters, clock });
  const attempts = createAttempts(counters);
  const invites = createInvites({ db, accounts, mail, clock, walletKey: secrets.walletKey, baseUrl });

  registerRoutes(server, createRegistration({ db, accounts, invites, bots, mail, baseUrl }));
  sessionRoutes(
    server,
    createSessionService({
      db,
      accounts,
      attempts,
      failedSignIns: createFailedSignIns({ db, counters, audit: accounts.audit }),
      clock,
      sessionSecret: secrets.sessionSecret,
    }),
    bots,
  );
  passwordRoutes(server, createPasswordService({ db, accounts, attempts, bots, mail, baseUrl }));
  settingsRoutes(server, createSettings({ db, accounts, mail, clock, agentsDomain: settings.AGENTS_DOMAIN }));
  keyRoutes(server, createKeys({ db, accounts, clock }));
  inviteRoutes(server, invites);
  adminRoutes(server, createAdmin({ db, accounts }));
  auditRoutes(server, createAuditService(db));
  return { mail };
}
