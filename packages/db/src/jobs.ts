import { PgBoss } from 'pg-boss';
import type { Job, JobOptions } from '@troupe/contract';
import type { Log } from '@troupe/kernel';
import { Misfit } from './misfit.ts';
import { connectionTo } from './primary.ts';
import { runAsLogin } from './scopes.ts';
import type { SystemTx, UserTx } from './scopes.ts';

export interface WorkOptions {
  /** Jobs that this process runs at once. */
  concurrency?: number;
  /** Jobs of one owner that all processes together run at once; all but one place of this process unless said. */
  perOwner?: number;
}

export interface JobContext {
  id: string;
  /** 0 at the first try. */
  tries: number;
  /** Aborts when the job has run out of time or is handed back at shutdown. */
  signal: AbortSignal;
}

export interface SendOptions {
  /** Whose job it is. Owners take turns, in the order of their first waiting job. */
  owner?: string;
  /** A moment, or seconds from now. */
  startAfter?: Date | number;
  key?: string;
  /** What the job is about: it takes the place of those of the same owner that are about the same and wait. */
  about?: string;
}

export type JobHandler<Data extends object> = (data: Data, job: JobContext) => Promise<void>;

export interface Jobs {
  /** A job that this process sends; `work` does it too. */
  define: (job: Job) => void;
  /**
   * A throw is a failed try. A job may run twice (a crash after its last effect): handlers are idempotent. One whose
   * stored data is not what the job says fails for good, at once and alone.
   */
  work: <Data extends object>(job: Job<Data>, handler: JobHandler<Data>, options?: WorkOptions) => void;
  /** Part of the transaction of `tx`: sent when that commits. Null: the job's policy says that there is one already. */
  send: <Data extends object>(
    tx: UserTx | SystemTx,
    job: Job<Data>,
    data: NoInfer<Data>,
    options?: SendOptions,
  ) => Promise<string | null>;
  /** Forgets those of an owner that were sent under this key and are not begun; part of the transaction of `tx`. */
  drop: (tx: UserTx | SystemTx, job: Job, which: { owner: string; key: string }) => Promise<string[]>;
  /** How many wait, and how many have failed for good, as of the last look of whoever supervises. */
  count: () => Promise<{ waiting: number; dead: number }>;
  start: () => Promise<void>;
  /** Waits for what runs, at most that long; the rest goes back into its queue. */
  stop: (timeoutMs?: number) => Promise<void>;
}

export interface JobsOptions {
  url: string;
  log: Log;
  /** How often lost jobs are looked for. */
  superviseSeconds?: number;
}

/** Jobs that have failed for good end up here, with the queue they came from. */
const DEAD = 'dead';
/** The job of a process that died is given to another one after this silence. */
const HEARTBEAT_SECONDS = 30;
/** New jobs are announced by the server; polling finds those that were waiting for a time. */
const POLL_SECONDS = 2;
const POLL_BESIDE_NOTIFY_SECONDS = 5;
/** Each place polls at its own pace: together they would take a connection each, and keep it. */
const POLL_SPREAD_SECONDS = 1;
/**
 * pg's own options, which are passed on; as in scopes.ts, an idle backend costs the server memory. pg-boss has one more
 * beside its pool, which listens: four in all, of which that one stays when nothing happens.
 */
const POOL = { max: 3, idleTimeoutMillis: 3_000 };
/** Otherwise a job that nobody could do for two weeks is deleted. */
const UNTIL_DONE = { retryLimit: 1_000_000, retentionSeconds: 10 * 365 * 86_400 };

export function createJobs({ url, log, superviseSeconds = 15 }: JobsOptions): Jobs {
  const boss = new PgBoss({
    ...connectionTo(url),
    application_name: 'troupe jobs',
    ...POOL,
    useListenNotify: true,
    // Cron has its own home: the scheduler.
    schedule: false,
    superviseIntervalSeconds: superviseSeconds,
    monitorIntervalSeconds: superviseSeconds,
  });
  let stopped = false;
  // Its connections may still be closing when the server they lead to is stopped.
  boss.on('error', (err) => {
    if (!stopped) log.error({ err }, 'the job queue failed');
  });
  boss.on('warning', ({ message, data }) => log.warn({ data }, `the job queue warns: ${message}`));

  const queues = new Map<string, JobOptions>();
  const workers: Worker[] = [];

  return {
    define: (job) => void queues.set(job.queue, job),
    work(job, handler, { concurrency = 2, perOwner = Math.max(concurrency - 1, 1) } = {}) {
      queues.set(job.queue, job);
      workers.push({ queue: job.queue, run: checked(job, handler), places: concurrency, perOwner });
    },
    async send(tx, job, data, { startAfter, key, owner, about } = {}) {
      const { queue } = job;
      const read = job.data.safeParse(data);
      if (!read.success) throw misfit(queue, read.error);
      const db = { executeSql: (text: string, values?: unknown[]) => runAsLogin(tx, { text, values: values ?? [] }) };
      const named = about ?? key;
      if (about !== undefined) await db.executeSql(TAKE_PLACE, [queue, owner ?? null, about]);
      return boss.send(queue, data, {
        db,
        ...(startAfter === undefined ? {} : { startAfter }),
        ...(named === undefined ? {} : { singletonKey: named }),
        ...(owner === undefined ? {} : { group: { id: owner }, priority: await turnOf(db, queue, owner) }),
      });
    },
    async drop(tx, { queue }, { owner, key }) {
      const { rows } = await runAsLogin(tx, { text: TAKE_PLACE, values: [queue, owner, key] });
      return (rows as { id: string }[]).map(({ id }) => id);
    },
    count: () => countJobs(boss),
    async start() {
      await boss.start();
      await makeQueues(boss, queues);
      await boss.getDb().executeSql(TURN_INDEX);
      for (const worker of workers) await listen(boss, log, worker);
      if (workers.length > 0) await reportDead(boss, log);
    },
    async stop(timeoutMs = 5_000) {
      for (const worker of workers) worker.places = 0;
      await boss.stop({ timeout: timeoutMs });
      stopped = true;
    },
  };
}

async function countJobs(boss: PgBoss): Promise<{ waiting: number; dead: number }> {
  const all = await boss.getQueues();
  const ready = (isDead: boolean): number =>
    all.filter(({ name }) => (name === DEAD) === isDead).reduce((sum, { readyCount }) => sum + readyCount, 0);
  return { waiting: ready(false), dead: ready(true) };
}

async function makeQueues(boss: PgBoss, queues: ReadonlyMap<string, JobOptions>): Promise<void> {
  const made = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]));
  await makeQueue(boss, { name: DEAD, retryLimit: 0 }, made);
  for (const [name, options] of queues) await makeQueue(boss, { ...options, name, deadLetter: DEAD }, made);
}

/** Options of a queue that exists follow the code; its policy cannot change. Nothing is asked of one that is as it should be. */
async function makeQueue(
  boss: PgBoss,
  options: JobOptions & { name: string; deadLetter?: string },
  made: ReadonlyMap<string, object>,
): Promise<void> {
  const { name, retryLimit = 5, untilDone, policy, deadLetter } = options;
  const { retryDelaySeconds = 2, retryDelayMaxSeconds = 600, expireSeconds = 600 } = options;
  const settings = {
    ...(untilDone ? UNTIL_DONE : { retryLimit }),
    retryDelay: retryDelaySeconds,
    retryBackoff: true,
    retryDelayMax: retryDelayMaxSeconds,
    expireInSeconds: expireSeconds,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    notify: true,
    ...(deadLetter ? { deadLetter } : {}),
  };
  const found = made.get(name) as Record<string, unknown> | undefined;
  if (found === undefined) await boss.createQueue(name, { ...settings, ...(policy ? { policy } : {}) });
  else if (Object.entries(settings).every(([key, value]) => found[key] === value)) return;
  await boss.updateQueue(name, settings);
}

const polling = () => ({
  pollingIntervalSeconds: POLL_SECONDS,
  notifyPollingIntervalSeconds: POLL_BESIDE_NOTIFY_SECONDS + Math.random() * POLL_SPREAD_SECONDS,
  includeMetadata: true as const,
});
type Polling = ReturnType<typeof polling>;

/**
 * The turn of an owner's next job, as a priority: one after the owner's last waiting job, but not before whoever is next
 * now. So owners with many waiting jobs go round with those who have one, in all processes, and nobody's old turns are
 * held against or for them. Two sent at the same moment may get the same turn, and that is as good.
 */
async function turnOf(db: JobsDb, queue: string, owner: string): Promise<number> {
  const { rows } = await db.executeSql(TURN, [queue, owner]);
  return Number((rows[0] as { turn: unknown }).turn);
}

interface JobsDb {
  executeSql: (text: string, values?: unknown[]) => Promise<{ rows: unknown[] }>;
}

const TURN = `select least(
    coalesce((select priority from pgboss.job where name = $1 and state < 'active' and not blocked and start_after <= now()
      order by priority desc limit 1), 0),
    coalesce((select priority from pgboss.job where name = $1 and group_id = $2 and state < 'active'
      order by priority limit 1), 1) - 1) as turn`;
/** Otherwise each job that is sent would look at all that are waiting. */
const TURN_INDEX = `do $$ begin
  if to_regclass('pgboss.troupe_job_turn') is null then
    perform pg_advisory_xact_lock(hashtext('troupe_job_turn'));
    create index if not exists troupe_job_turn on pgboss.job (name, group_id, priority)
      where state < 'active' and group_id is not null;
  end if;
end $$`;

/** By the index of turns, which has what waits of an owner. */
const TAKE_PLACE = `delete from pgboss.job
  where name = $1 and group_id = $2 and state < 'active' and singleton_key = $3 returning id`;

interface Worker {
  queue: string;
  run: (stored: unknown, job: JobContext) => Promise<void>;
  /** That are still to be opened. */
  places: number;
  perOwner: number;
}

const misfit = (queue: string, error: ConstructorParameters<typeof Misfit>[1]): Misfit =>
  new Misfit(`The data of a job does not fit ${queue}`, error);

const checked =
  <Data extends object>({ queue, data }: Job<Data>, handler: JobHandler<Data>): Worker['run'] =>
  async (stored, context) => {
    const read = data.safeParse(stored);
    if (!read.success) throw misfit(queue, read.error);
    await handler(read.data, context);
  };

/**
 * One place: takes the next job as soon as it is done with one, and polls when there was none. The next place is opened when
 * this one has something to do, so that of a queue at rest only one asks.
 */
async function listen(boss: PgBoss, log: Log, worker: Worker): Promise<void> {
  const { queue, run, perOwner } = worker;
  worker.places -= 1;
  const place = await boss.work<object, void, Polling & { groupConcurrency: number }>(
    queue,
    { ...polling(), groupConcurrency: perOwner },
    async ([job]) => {
      if (!job) return;
      boss.notifyWorker(place);
      if (worker.places > 0) await listen(boss, log, worker);
      const { id, retryCount: tries, retryLimit, signal } = job;
      try {
        await run(job.data, { id, tries, signal });
      } catch (err) {
        if (err instanceof Misfit) {
          log.error({ err, queue, job: id }, 'a job cannot be worked on');
          // No other try will find other data.
          await boss.getDb().executeSql(LAST_TRY, [queue, id]);
        } else if (tries < retryLimit) {
          // The last failure is reported as a dead job.
          log.warn({ err, queue, job: id, tries }, 'a job failed and will be tried again');
        }
        throw err;
      }
    },
  );
}

const LAST_TRY = 'update pgboss.job set retry_limit = retry_count where name = $1 and id = $2';

/** Every dead job is reported once, also one whose last process died without a word. The data may hold secrets. */
async function reportDead(boss: PgBoss, log: Log): Promise<void> {
  await boss.work<object, void, Polling>(DEAD, polling(), async ([job]) => {
    if (!job) return;
    log.error({ queue: job.sourceName, job: job.sourceId, tries: job.sourceRetryCount }, 'a job failed for good');
  });
}

/** The queue's own tables, and the queues of these jobs, made once for all databases copied from a template. */
export async function installJobs(url: string, log: Log, all: readonly Job[] = []): Promise<void> {
  const jobs = createJobs({ url, log });
  for (const one of all) jobs.define(one);
  await jobs.start();
  await jobs.stop();
}
