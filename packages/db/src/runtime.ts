import { resolve } from 'node:path';
import {
  closeAll,
  createLog,
  loadSecrets,
  memoryCounters,
  newId,
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
import { remainMember } from './processes.ts';
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

interface RuntimeOptions {
  /** The embedded server's, if there is one. */
  databaseUrl?: string;
  /** The database was changed by a newer version so that this process cannot go on. */
  onLost?: (error: unknown) => void;
}

/** Opens the database (brought up to date), the counters and the secrets. */
export async function openRuntime(
  settings: Settings,
  service: string,
  { databaseUrl = settings.DATABASE_URL, onLost }: RuntimeOptions = {},
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
  const process = { id: newId(), service };
  const again = () => migrate({ url: direct, log, process });
  const { waits } = await again();
  const counters = settings.REDIS_URL ? await redisCounters(settings.REDIS_URL, log, clock) : memoryCounters(clock);
  const db = createDatabase({ url: databaseUrl, log, poolSize: settings.DATABASE_POOL, pooled, prepared });
  const jobs = createJobs({ url: direct, log });
  const listener = createListener({ url: direct, log });
  const lost = onLost ?? ((error: unknown) => log.error({ err: error }, 'the database went on without this process'));
  const member = remainMember({ db, log, id: process.id, waits, again, onLost: lost });
  const close = () => closeAll([counters, db, member, listener, { close: () => jobs.stop() }]);
  return { settings, dataDir, log, counters, secrets, db, jobs, listener, databaseUrl: direct, clock, close };
}
