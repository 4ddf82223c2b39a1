import type { Troupe } from '@troupe/client';
import type { Account } from './config.mjs';
import type { Output } from './output.mjs';

/** What a command has to work with. */
export interface Context {
  /** After the name of the command. */
  words: string[];
  options: Record<string, string | boolean | undefined>;
  output: Output;
  /** Where the sign-in is kept. */
  file: string;
  account: () => Promise<Account>;
  troupe: () => Promise<Troupe>;
  signal: AbortSignal;
}
