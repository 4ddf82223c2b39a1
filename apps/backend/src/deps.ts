import type { Database, Jobs, Listener } from '@troupe/db';
import type { Clock, Counters, Log, Secrets, Settings } from '@troupe/kernel';

/** Everything that the backend is made of comes in here; nothing below reads the environment. */
export interface BackendDeps {
  settings: Settings;
  /** Where files are kept that are not in the database. */
  dataDir: string;
  log: Log;
  counters: Counters;
  secrets: Secrets;
  db: Database;
  /** Queues are named here; whoever runs the service starts them. */
  jobs: Jobs;
  listener: Listener;
  clock: Clock;
  /** Where the backend is reached. */
  url: string;
  version: string;
}
