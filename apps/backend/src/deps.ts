import type { Runtime } from '@troupe/db';

/** Everything that the backend is made of comes in here; nothing below reads the environment. */
export interface BackendDeps extends Omit<Runtime, 'databaseUrl' | 'close'> {
  /** Where the backend is reached. */
  url: string;
  version: string;
}
