import type { Database, Jobs, Listener } from '@troupe/db';
import type { Clock, Counters, Log, Secrets, Settings } from '@troupe/kernel';

/** Everything that web is made of comes in here; nothing below reads the environment. */
export interface WebDeps {
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
  /** Public address of web. */
  url: string;
  backendUrl: string;
  version: string;
}
