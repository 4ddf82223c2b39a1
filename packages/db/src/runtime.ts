import { resolve } from 'node:path';
import {
  closeAll,
  createLog,
  loadSecrets,
  memoryCounters,
  redisCounters,
  StartError,
  systemClock,
  type Clock,
  type Counters,
  type Log,
  type Secrets,
  type Settings,
} from '@troupe/kernel';
import { createJobs, type Jobs } from './jobs.ts';
import { migrate } from './migrate.ts';
import { createListener, type Listener } from './notifications.ts';
import { findWay } from './pooler.ts';
import { createDatabase, type Database } from './scopes.ts';

/** What every service with a database stands on. */
export interface Runtime {
  settings: Settings;
  /** Where files are kept that are not in the database. */
  dataDir: string;
  log: Log;
  counters: Counters;
  secrets: Secrets;
  db: Database;
  /** Started once every service has said which queues it works on. */
  jobs: Jobs;
  /** Hears what other processes tell. */
  listener: Listener;
  /** Of the server itself, past a pooler. */
  databaseUrl: string;
  clock: Clock;
  close: () => Promise<void>;
}

export const dataDirOf = (settings: Settings): string => resolve(settings.DATA_DIR ?? '.data');

/** Opens the database (brought up to date), the counters and the secrets. `databaseUrl` is the embedded server's, if there is one. */
export async function openRuntime(
  settings: Settings,
  service: string,
  databaseUrl = settings.DATABASE_URL,
): Promise<Runtime> {
  if (databaseUrl === undefined)
    throw new StartError(
      'DATABASE_URL must be set when a service is started alone; `npm start` runs all services with a database of its own.',
    );
  const log = createLog({ level: settings.LOG_LEVEL, service });
  const clock = systemClock;
  const dataDir = dataDirOf(settings);
  const secrets = loadSecrets(settings, dataDir);
  const { direct, pooled, prepared } = await findWay(databaseUrl, settings);
  await migrate({ url: direct, log });
  const counters = settings.REDIS_URL ? await redisCounters(settings.REDIS_URL, log, clock) : memoryCounters(clock);
  const db = createDatabase({ url: databaseUrl, log, poolSize: settings.DATABASE_POOL, pooled, prepared });
  const jobs = createJobs({ url: direct, log });
  const listener = createListener({ url: direct, log });
  const close = () => closeAll([counters, db, listener, { close: () => jobs.stop() }]);
  return { settings, dataDir, log, counters, secrets, db, jobs, listener, databaseUrl: direct, clock, close };
}
