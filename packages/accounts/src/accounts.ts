import type { Database, Jobs } from '@troupe/db';
import { stopAgentsJob } from '@troupe/contract';
import type { Authenticator, Clock, Log, Secrets, Settings } from '@troupe/kernel';
import { createAudit, type Audit } from './audit.ts';
import { createAuthenticator } from './authenticator.ts';
import { createConfirmation, type Confirmation } from './confirmation.ts';
import { createCredits, type Credits } from './credits.ts';
import { createLinks, type Links } from './links.ts';
import { createPasswords, type Passwords } from './passwords.ts';
import { createHalt, createProve, type Halt, type Prove } from './proof.ts';
import { createSecondFactors, type SecondFactors } from './second-factors.ts';
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
  /** Where addresses are proven. */
  jobs?: Pick<Jobs, 'define' | 'send'>;
}

/** People and what proves who they are: the same for every service. */
export interface Accounts extends Authenticator, Reader {
  users: Users;
  sessions: Sessions;
  links: Links;
  factors: SecondFactors;
  confirmation: Confirmation;
  credits: Credits;
  verification: Verification;
  prove: Prove;
  halt: Halt;
  passwords: Passwords;
  audit: Audit;
  close: () => Promise<void>;
}

export function createAccounts(deps: AccountsDeps): Accounts {
  const { db, settings, secrets, clock, log, url, passwords, jobs } = deps;
  const required = mustVerifyEmail(settings);
  const reader = createReader(settings, required);
  const audit = createAudit(clock);
  const credits = createCredits(clock);
  const baseUrl = settings.BASE_URL ?? url;
  const factors = createSecondFactors({ clock, secret: secrets.walletKey, issuer: `Troupe ${new URL(baseUrl).host}` });
  const sessions = createSessions({ clock, audit, factors, secure: baseUrl.startsWith('https:') });
  const verification = createVerification({ clock, required });
  const halt = createHalt({ clock, jobs });
  jobs?.define(stopAgentsJob);
  return {
    ...reader,
    ...createAuthenticator({ db, clock, log, reader }),
    users: createUsers({ clock, audit }),
    sessions,
    factors,
    confirmation: createConfirmation({ clock }),
    links: createLinks({ clock, secret: secrets.walletKey }),
    credits,
    verification,
    halt,
    prove: createProve({ clock, audit, credits, factors, halt, sessions, verification, jobs }),
    passwords: passwords ?? createPasswords(),
    audit,
  };
}
