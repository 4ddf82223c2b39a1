import { setTimeout as delay } from 'node:timers/promises';
import { raiseNotice } from '@troupe/accounts';
import { tasksWaiting } from '@troupe/contract';
import { notify, type Database, type Listener, type SystemTx } from '@troupe/db';
import type { Clock, Log } from '@troupe/kernel';
import { claimDue, claimWaiting, sharesOf, type Claimed, type Run } from './claiming.ts';
import * as store from './store.ts';
import { tellOf } from './telling-store.ts';
import * as triggered from './triggered-store.ts';

export type { FileWatchDeps } from './file-watch.ts';

/** How the scheduler reaches an agent. Answers its words; throws with the reason when there are none. */
export interface Wake {
  execute: (
    agent: { id: string; userId: string },
    /** Asked again under the same `runId`, the agent answers with what it did before. */
    task: { id: string; prompt: string; runId: string },
    signal: AbortSignal,
  ) => Promise<string>;
  heartbeat: (agent: { id: string; userId: string }, signal: AbortSignal) => Promise<void>;
}

export interface SchedulerDeps {
  db: Database;
  /** The database's own unless given: several processes share the tasks, and need not agree on the time. */
  clock?: Clock;
  log: Log;
  wake: Wake;
  /** What else is looked after in each cycle. */
  chores?: readonly (() => Promise<unknown>)[];
  /** Hears at once that something arrived; left out: at the next poll. */
  listener?: Listener;
  pollMs?: number;
  requestMs?: number;
  /** How long an answer is waited for where something arrived: nobody is at a clock then. */
  runMs?: number;
  /** How long closing waits for answers. */
  closeMs?: number;
}

const POLL_MS = 30_000;
const REQUEST_MS = 30_000;
const RUN_MS = 600_000;
const CLOSE_MS = 5_000;
/** Processes that may end over one run. */
const MOST_TRIES = 3;
/** What another process took first is looked for again so soon. */
const LOST_MS = 100;
const HEARTBEATS = 40;
const HEARTBEATS_PER_USER = 10;
const NOTICE_AFTER = 3;
const OUTPUT_LIMIT = 100_000;
const INTERRUPTED = 'Interrupted: the process that ran it ended';

interface Taken {
  taken: number;
  /** More is due. */
  left: boolean;
  again: boolean;
  /** Some of it was chosen, and others were quicker. */
  lost: boolean;
  started: Promise<unknown>[];
}

/** What a schedule did not start was started by something that comes once: it is not given up with its process. */
const isKept = ({ source }: { source: string }): boolean => source !== 'schedule';

/**
 * Runs due tasks. The receipt is written, and the task moved on, before the agent is asked: so whatever happens to this
 * process, no occurrence runs twice, and one that was interrupted is told as failed, unless the agent ended it by itself. What arrived waits as a receipt; one that was
 * interrupted is asked for again under its id, which the agent takes once.
 */
class TaskScheduler {
  readonly #db: Database;
  readonly #clock: Clock | undefined;
  readonly #log: Log;
  readonly #wake: Wake;
  readonly #chores: readonly (() => Promise<unknown>)[];
  readonly #pollMs: number;
  #tellAt = 0;
  readonly #requestMs: number;
  readonly #runMs: number;
  readonly #listener: Listener | undefined;
  readonly #closeMs: number;
  readonly #stopping = new AbortController();
  /** Ends the requests that are still out when closing has taken long enough. */
  readonly #hurry = new AbortController();
  #loop: Promise<void> | undefined;
  /** What this process has under way. */
  readonly #runs = new Set<string>();
  readonly #beating = new Map<string, number>();
  /** Told whenever something ends and its place is free. */
  #freed = (): void => {};
  /** Told when something arrived. */
  #arrived = (): void => {};
  readonly #underWay = new Set<Promise<unknown>>();

  constructor({
    db,
    clock,
    log,
    wake,
    chores = [],
    pollMs = POLL_MS,
    requestMs = REQUEST_MS,
    runMs = RUN_MS,
    listener,
    closeMs = CLOSE_MS,
  }: SchedulerDeps) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
    this.#wake = wake;
    this.#chores = [...chores, () => triggered.forgetDeliveries(db.system)];
    this.#pollMs = pollMs;
    this.#requestMs = requestMs;
    this.#runMs = runMs;
    this.#listener = listener;
    this.#closeMs = closeMs;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Takes nothing more; what it has asked for may still be answered. */
  rest(): void {
    this.#stopping.abort();
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    const timer = setTimeout(
      () => this.#hurry.abort(new Error('Interrupted: the platform was stopped')),
      this.#closeMs,
    );
    await this.#loop;
    clearTimeout(timer);
  }

  async cycle(): Promise<number> {
    const { taken, started } = await this.#turn();
    await Promise.all([...started, ...this.#chores.map((chore) => chore())]);
    return taken;
  }

  #inTime(ms = this.#requestMs): AbortSignal {
    return AbortSignal.any([AbortSignal.timeout(ms), this.#hurry.signal]);
  }

  #leaseFrom(now: Date): Date {
    return new Date(now.getTime() + this.#requestMs * 2);
  }

  #timeOf(tx: SystemTx): Promise<Date> {
    return this.#clock ? Promise.resolve(this.#clock()) : store.databaseTime(tx);
  }

  async #claim(tx: SystemTx): Promise<Claimed> {
    const now = await this.#timeOf(tx);
    const shares = sharesOf(this.#runs.size);
    if (shares.places <= 0) return { runs: [], taken: 0, left: true, lost: false };
    return claimDue(tx, { now, leaseUntil: this.#leaseFrom(now), ...shares });
  }

  /** What arrived gets the places that are left. */
  async #claimWaiting(tx: SystemTx, due: number): Promise<Pick<Claimed, 'runs' | 'left'>> {
    const shares = sharesOf(this.#runs.size + due);
    if (shares.places <= 0) return { runs: [], left: true };
    const now = await this.#timeOf(tx);
    return claimWaiting(tx, { now, leaseUntil: this.#leaseFrom(now), ...shares });
  }

  async #close(tx: SystemTx, run: Omit<Run, 'prompt' | 'source'>, outcome: Omit<store.Outcome, 'at'>): Promise<void> {
    const at = await this.#timeOf(tx);
    if (!(await store.closeReceipt(tx, run.id, { ...outcome, at }))) return;
    if (outcome.output) await tellOf(tx, run, outcome.output);
    const failures = await store.countFailure(tx, run.taskId, outcome.status === 'failed');
    if (failures !== NOTICE_AFTER) return;
    await raiseNotice(
      tx,
      {
        userId: run.userId,
        kind: 'task_failing',
        subject: run.taskId,
        message: `The task ${run.name} failed ${NOTICE_AFTER} times in a row: ${outcome.error ?? ''}`,
        link: `/dashboard/tasks?task=${run.taskId}`,
      },
      at,
    );
  }

  async #execute(run: Run): Promise<void> {
    const ms = isKept(run) ? this.#runMs : this.#requestMs;
    const { id: runId, taskId, prompt } = run;
    const outcome = await this.#wake
      .execute({ id: run.agentId, userId: run.userId }, { id: taskId, prompt, runId }, this.#inTime(ms))
      .then(
        (output) => ({ status: 'succeeded' as const, output: output.slice(0, OUTPUT_LIMIT), error: null }),
        (error: unknown) => ({ status: 'failed' as const, output: null, error: reason(error, ms) }),
      );
    // The agent was stopped with the platform, or not heard to its end.
    const isBroken = outcome.status === 'failed' && this.#stopping.signal.aborted && isKept(run);
    await this.#db.asSystem(async (tx) => {
      await store.lockTask(tx, taskId);
      if (isBroken) await triggered.waitAgain(tx, runId);
      else await this.#close(tx, run, outcome);
    });
  }

  #closeAbandoned() {
    return this.#db.asSystem(async (tx) => {
      const now = await this.#timeOf(tx);
      if (this.#runs.size > 0) await triggered.keepRuns(tx, [...this.#runs], this.#leaseFrom(now));
      for (const run of await store.takeAbandoned(tx, now, 100))
        if (isKept(run) && run.tries < MOST_TRIES) await triggered.waitAgain(tx, run.id);
        else await this.#closeInterrupted(tx, run, now);
    });
  }

  /** The agent may have gone on without whoever asked it: what it says then is what came of the run. */
  async #closeInterrupted(
    tx: SystemTx,
    run: Awaited<ReturnType<typeof store.takeAbandoned>>[number],
    now: Date,
  ): Promise<void> {
    const { id, task_id: taskId, user_id: userId, agent_id: agentId, name, started_at: startedAt } = run;
    const found = await store.agentsAnswer(tx, run);
    if (found?.isOpen && now.getTime() - startedAt.getTime() < this.#runMs) {
      await triggered.keepRuns(tx, [id], this.#leaseFrom(now));
      return;
    }
    const isDone = found?.isOpen === false && found.outcome === 'done';
    await this.#close(
      tx,
      { id, taskId, userId, agentId, name },
      isDone
        ? { status: 'succeeded', output: (found.output ?? '').slice(0, OUTPUT_LIMIT), error: null }
        : { status: 'failed', output: null, error: found?.reason ?? INTERRUPTED },
    );
  }

  async #beat({ agent_id, user_id }: { agent_id: string; user_id: string }): Promise<void> {
    this.#beating.set(user_id, (this.#beating.get(user_id) ?? 0) + 1);
    await this.#wake
      .heartbeat({ id: agent_id, userId: user_id }, this.#inTime())
      .catch((error: unknown) =>
        this.#log.warn({ err: error, agentId: agent_id }, 'heartbeat did not reach the agent'),
      );
    const others = (this.#beating.get(user_id) ?? 1) - 1;
    if (others === 0) this.#beating.delete(user_id);
    else this.#beating.set(user_id, others);
    this.#freed();
  }

  /** What is due may have found no place, of all or of its user. */
  get #isFullOfBeats(): boolean {
    const own = [...this.#beating.values()];
    return (
      own.some((beats) => beats >= HEARTBEATS_PER_USER) || own.reduce((sum, beats) => sum + beats, 0) >= HEARTBEATS
    );
  }

  #claimHeartbeats() {
    return this.#db.asSystem(async (tx) => {
      const now = await this.#timeOf(tx);
      const places = HEARTBEATS - [...this.#beating.values()].reduce((sum, own) => sum + own, 0);
      if (places <= 0) return [];
      const found = await store.takeHeartbeats(tx, now, { places, perUser: HEARTBEATS_PER_USER, busy: this.#beating });
      for (const { agent_id, seconds } of found)
        await store.moveHeartbeat(tx, agent_id, now, new Date(now.getTime() + seconds * 1000));
      return found;
    });
  }

  async #runOne(run: Run): Promise<void> {
    this.#runs.add(run.id);
    try {
      await this.#execute(run);
    } finally {
      this.#runs.delete(run.id);
      this.#freed();
    }
  }

  #told(error: unknown): void {
    this.#log.error({ err: error }, 'scheduler cycle failed; trying again at the next poll');
  }

  /** A failure is told; whoever waits at the end only wants to know that it is over. */
  #follow(work: Promise<unknown>): void {
    const over = work.catch((error) => this.#told(error)).finally(() => this.#underWay.delete(over));
    this.#underWay.add(over);
  }

  /** More is due than has a place here: whoever else has one need not wait for its own poll. Once a poll, or they would call each other. */
  async #tellOthers(): Promise<void> {
    if (performance.now() < this.#tellAt) return;
    this.#tellAt = performance.now() + this.#pollMs;
    await notify(this.#db.system, tasksWaiting, '');
  }

  /** Takes what is due and has a place, and starts it: nobody's slow run holds up the next turn. */
  async #turn(): Promise<Taken> {
    await this.#closeAbandoned();
    const due = await this.#db.asSystem((tx) => this.#claim(tx));
    if (due.left && due.runs.length > 0) await this.#tellOthers();
    const arrived = await this.#db.asSystem((tx) => this.#claimWaiting(tx, due.runs.length));
    const runs = [...due.runs, ...arrived.runs];
    const started = runs.map((run) => this.#runOne(run));
    started.forEach((work) => this.#follow(work));
    const beats = (await this.#claimHeartbeats()).map((agent_id) => this.#beat(agent_id));
    beats.forEach((work) => this.#follow(work));
    return {
      taken: due.taken + arrived.runs.length,
      left: due.left || arrived.left || beats.length > 0 || this.#isFullOfBeats,
      // Until nothing more is to be had. Those that were skipped free no place by their end: nobody else would look.
      again: (due.left && due.taken > 0) || (arrived.left && arrived.runs.length > 0),
      lost: due.lost,
      started: [...started, ...beats],
    };
  }

  async #run(): Promise<void> {
    let doing = false;
    let choresAt = 0;
    const stopListening = this.#listener?.on(tasksWaiting, () => this.#arrived());
    while (!this.#stopping.signal.aborted) {
      const nudge = new AbortController();
      const news = new AbortController();
      this.#freed = () => nudge.abort();
      this.#arrived = () => news.abort();
      const { left, again, lost } = await this.#turn().catch((error: unknown) => {
        this.#told(error);
        return { left: false, again: false, lost: false };
      });
      // What arrives in between does not make them more frequent.
      if (!doing && performance.now() >= choresAt) {
        doing = true;
        choresAt = performance.now() + this.#pollMs * 0.9;
        this.#follow(Promise.all(this.#chores.map((chore) => chore())).finally(() => (doing = false)));
      }
      // What had no place is looked at again as soon as there is one.
      if (!again)
        await pause(
          lost ? LOST_MS : this.#pollMs,
          AbortSignal.any([this.#stopping.signal, news.signal, ...(left ? [nudge.signal] : [])]),
        );
    }
    stopListening?.();
    await Promise.all(this.#underWay);
  }
}

export function createScheduler(deps: SchedulerDeps) {
  return new TaskScheduler(deps);
}
export type Scheduler = ReturnType<typeof createScheduler>;

/** Until then, or until it is called off. */
const pause = (ms: number, signal: AbortSignal): Promise<void> => delay(ms, undefined, { signal }).catch(() => {});

function reason(error: unknown, requestMs: number): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `No answer within ${requestMs / 1000} s`;
  return error instanceof Error ? error.message : String(error);
}
