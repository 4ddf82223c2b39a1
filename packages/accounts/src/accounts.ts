import type { Database } from '@troupe/db';
import type { Authenticator, Clock, Log, Secrets, Settings } from '@troupe/kernel';
import { createAudit, type Audit } from './audit.ts';
import { createAuthenticator } from './authenticator.ts';
import { createCredits, type Credits } from './credits.ts';
import { createLinks, type Links } from './links.ts';
import { createPasswords, type Passwords } from './passwords.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { createReader, mustVerifyEmail, type Reader } from './user.ts';
import { createUsers, type Users } from './users.ts';
import { createVerification, type Verification } from './verification.ts';

export interface AccountsDeps {
  db: Database;
  settings: Settings;
  secrets: Pick<Secrets, 'walletKey'>;
  clock: Clock;
  log: Log;
  /** Public address of web, where BASE_URL does not say. */
  url: string;
  passwords?: Passwords;
}

/** People and what proves who they are: the same for every service. */
export interface Accounts extends Authenticator, Reader {
  users: Users;
  sessions: Sessions;
  links: Links;
  credits: Credits;
  verification: Verification;
  passwords: Passwords;
  audit: Audit;
  close: () => Promise<void>;
}

export function createAccounts({ db, settings, secrets, clock, log, url, passwords }: AccountsDeps): Accounts {
  const required = mustVerifyEmail(settings);
  const reader = createReader(settings, required);
  const audit = createAudit(clock);
  const credits = createCredits(clock);
  return {
    ...reader,
    ...createAuthenticator({ db, clock, log, reader }),
    users: createUsers({ clock, audit }),
    sessions: createSessions({ clock, audit, secure: (settings.BASE_URL ?? url).startsWith('https:') }),
    links: createLinks({ clock, secret: secrets.walletKey }),
    credits,
    verification: createVerification({ clock, credits, required }),
    passwords: passwords ?? createPasswords(),
    audit,
  };
}
