import type { Passwords } from '@troupe/accounts';
import type { Runtime } from '@troupe/db';

/** Everything that web is made of comes in here; nothing below reads the environment. */
export interface WebDeps extends Omit<Runtime, 'databaseUrl' | 'close'> {
  /** Public address of web. */
  url: string;
  backendUrl: string;
  version: string;
  /** Left out: hashed as slowly as they have to be. */
  passwords?: Passwords;
}
