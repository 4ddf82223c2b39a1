import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mailJob, mailNewsJob } from '@troupe/contract';
import { withoutWaiting, type Database, type Jobs, type SystemTx } from '@troupe/db';
import { loadNow, onUse, type Clock, type Counters, type Log, type Settings } from '@troupe/kernel';
import type { Transporter } from 'nodemailer';

const nodemailer = onUse(() => loadNow(import.meta.resolve('nodemailer')) as typeof import('nodemailer'));

interface Mail {
  to: string;
  subject: string;
  text: string;
  /** What the mail is about; logged when there is no mail server. */
  link?: string;
}

/** Null: there is nothing to send after all. */
type Compose = (data: never) => Promise<Mail | null>;

/**
 * Mails are jobs: sent when the transaction that asks for them commits, tried again until the mail server takes them.
 * A job says what the mail is about and never holds a secret; the mail itself is composed when it is sent.
 */
export interface MailRoom {
  /** `news`: a mail that only tells something. It never goes before, or holds up, one that lets somebody in. */
  define: (kind: string, compose: Compose, order?: 'news') => void;
  /** Senders take turns; it is the recipient unless `owner` says who has it sent. */
  post: (
    tx: SystemTx,
    kind: string,
    data: { email: string } & Record<string, unknown>,
    owner?: string,
  ) => Promise<void>;
  /**
   * For strangers who type an address: nothing is sent unless it is somebody's. It does the same work for nobody, and
   * answers the same.
   */
  postIfKnown: (kind: string, email: string) => Promise<void>;
}

interface MailDeps {
  db: Database;
  isUser: (tx: SystemTx, email: string) => Promise<boolean>;
  settings: Pick<Settings, 'SMTP_URL' | 'MAIL_FROM'>;
  dataDir: string;
  jobs: Jobs;
  counters: Counters;
  clock: Clock;
  log: Log;
}

const HOUR_MS = 3_600_000;
/** Nobody's letterbox is flooded by somebody who types its address again and again. */
const A_KIND_AN_HOUR = 10;
const TIMEOUT_MS = 20_000;

class Nobody extends Error {}

export function createMail(deps: MailDeps): MailRoom {
  const { db, jobs, counters, log } = deps;
  const kinds = new Map<string, { compose: Compose; job: typeof mailJob }>();
  const send = deps.settings.SMTP_URL === undefined ? toOutbox(deps) : toServer(deps, deps.settings.SMTP_URL);

  function known(kind: string): { compose: Compose; job: typeof mailJob } {
    const found = kinds.get(kind);
    if (!found) throw new Error(`nobody composes mails of the kind ${kind}`);
    return found;
  }

  async function work(
    { kind, data }: { kind: string; data: { email: string } },
    { id, tries }: { id: string; tries: number },
  ): Promise<void> {
    const { compose } = known(kind);
    if (tries === 0) {
      const { count } = await counters.hit(`mail:${kind}:${data.email}`, HOUR_MS);
      if (count > A_KIND_AN_HOUR) return log.warn({ kind }, 'too many mails to one address: not sent');
    }
    const mail = await compose(data as never);
    if (mail) await send(mail, id);
  }

  async function post(...[tx, kind, data, owner = data.email]: Parameters<MailRoom['post']>): Promise<void> {
    await jobs.send(tx, known(kind).job, { kind, data }, { owner });
  }

  jobs.work(mailJob, work, { concurrency: 2 });
  jobs.work(mailNewsJob, work, { concurrency: 2 });
  return {
    define: (kind, compose, order) => void kinds.set(kind, { compose, job: order ? mailNewsJob : mailJob }),
    post,
    async postIfKnown(kind, email) {
      const { count } = await counters.hit(`mail-asked:${kind}:${email}`, HOUR_MS);
      const posted = db.asSystem(async (tx) => {
        // A mail that is kept takes no longer than one that is not.
        await withoutWaiting(tx);
        const isKnown = await deps.isUser(tx, email);
        await post(tx, kind, { email });
        if (!isKnown || count > A_KIND_AN_HOUR) throw new Nobody();
      });
      await posted.catch((error: unknown) => {
        if (!(error instanceof Nobody)) throw error;
      });
    },
  };
}

type Send = (mail: Mail, id: string) => Promise<void>;

function toServer({ settings }: MailDeps, url: string): Send {
  let transport: Transporter | undefined;
  return async ({ to, subject, text }) => {
    transport ??= nodemailer().createTransport(url, { from: settings.MAIL_FROM });
    await withTimeout(transport.sendMail({ to: { name: '', address: to }, subject, text }));
  };
}

/** The library's own limits are minutes long and differ by phase. */
async function withTimeout(sending: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the mail server did not answer in time')), TIMEOUT_MS);
  });
  try {
    await Promise.race([sending, late]);
  } finally {
    clearTimeout(timer);
  }
}

function toOutbox({ settings, dataDir, clock, log }: MailDeps): Send {
  const outbox = join(dataDir, 'outbox');
  return async ({ to, subject, text, link }, id) => {
    const transport = nodemailer().createTransport(
      { streamTransport: true, buffer: true },
      { from: settings.MAIL_FROM },
    );
    const { message } = await transport.sendMail({ to: { name: '', address: to }, subject, text });
    await mkdir(outbox, { recursive: true, mode: 0o700 });
    const file = join(outbox, `${clock().toISOString().replaceAll(':', '-')}-${id}.eml`);
    await writeFile(file, message, { mode: 0o600 });
    log.info({ to, subject, link, file }, 'mail written to the outbox: there is no mail server');
  };
}
