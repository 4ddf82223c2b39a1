import { raiseNotice } from '@troupe/accounts';
import { parseSchedule } from '@troupe/domain';
import type { Database, SystemTx } from '@troupe/db';
import { newId, type Clock, type Log } from '@troupe/kernel';
import * as store from './store.ts';

/** How the scheduler reaches an agent. Answers its words; throws with the reason when there are none. */
export interface Wake {
  execute: (
    agent: { id: string; userId: string },
    task: { id: string; prompt: string },
    signal: AbortSignal,
  ) => Promise<string>;
  heartbeat: (agent: { id: string; userId: string }, signal: AbortSignal) => Promise<void>;
}

export interface SchedulerDeps {
  db: Database;
  clock: Clock;
  log: Log;
  wake: Wake;
  /** What else is looked after in each cycle. */
  chores?: readonly (() => Promise<unknown>)[];
  pollMs?: number;
  requestMs?: number;
  /** How long closing waits for answers. */
  closeMs?: number;
}

export interface Scheduler {
  start: () => void;
  /** One cycle; answers how many tasks it took. */
  cycle: () => Promise<number>;
  close: () => Promise<void>;
}

const POLL_MS = 30_000;
const REQUEST_MS = 30_000;
const CLOSE_MS = 5_000;
const TASKS_A_CYCLE = 10;
const NOTICE_AFTER = 3;
const OUTPUT_LIMIT = 100_000;
const COUNT_LIMIT = 100_000;

interface Run {
  id: string;
  taskId: string;
  userId: string;
  agentId: string;
  name: string;
  prompt: string;
}

/**
 * Runs due tasks. The receipt is written, and the task moved on, before the agent is asked: so whatever happens to this
 * process, no occurrence runs twice, and one that was interrupted is told as failed.
 */
export function createScheduler({
  db,
  clock,
  log,
  wake,
  chores = [],
  pollMs = POLL_MS,
  requestMs = REQUEST_MS,
  closeMs = CLOSE_MS,
}: SchedulerDeps): Scheduler {
  const stopping = new AbortController();
  /** Ends the requests that are still out when closing has taken long enough. */
  const hurry = new AbortController();
  const inTime = (): AbortSignal => AbortSignal.any([AbortSignal.timeout(requestMs), hurry.signal]);
  let loop: Promise<void> | undefined;

  async function claim(tx: SystemTx): Promise<Run[]> {
    const now = clock();
    const runs: Run[] = [];
    for (const task of await store.takeDue(tx, now, TASKS_A_CYCLE)) {
      const due = task.next_run!;
      const schedule = parseSchedule(task.cron_schedule, task.timezone, now);
      const id = newId();
      const missed = schedule?.countBetween(due, now, COUNT_LIMIT) ?? 0;
      const receipt = {
        id,
        task_id: task.id,
        user_id: task.user_id,
        due_at: due,
        occurrences: 1 + missed,
        started_at: now,
      };
      if (task.running) {
        await store.addReceipts(tx, [
          {
            ...receipt,
            status: 'skipped',
            finished_at: now,
            error: 'The run before was still going on',
            lease_until: null,
          },
        ]);
      } else {
        const lease_until = new Date(now.getTime() + requestMs * 2);
        await store.addReceipts(tx, [{ ...receipt, status: 'running', finished_at: null, error: null, lease_until }]);
        runs.push({
          id,
          taskId: task.id,
          userId: task.user_id,
          agentId: task.agent_id,
          name: task.name,
          prompt: task.prompt,
        });
      }
      await store.moveOn(tx, task.id, schedule?.next(now) ?? null, task.running ? null : now);
    }
    return runs;
  }

  async function close(tx: SystemTx, run: Omit<Run, 'prompt'>, outcome: Omit<store.Outcome, 'at'>): Promise<void> {
    if (!(await store.closeReceipt(tx, run.id, { ...outcome, at: clock() }))) return;
    const failures = await store.countFailure(tx, run.taskId, outcome.status === 'failed');
    if (failures !== NOTICE_AFTER) return;
    await raiseNotice(
      tx,
      {
        userId: run.userId,
        kind: 'task_failing',
        subject: run.taskId,
        message: `The task ${run.name} failed ${NOTICE_AFTER} times in a row: ${outcome.error ?? ''}`,
        link: '/dashboard/tasks',
      },
      clock(),
    );
  }

  async function execute(run: Run): Promise<void> {
    const outcome = await wake
      .execute({ id: run.agentId, userId: run.userId }, { id: run.taskId, prompt: run.prompt }, inTime())
      .then(
        (output) => ({ status: 'succeeded' as const, output: output.slice(0, OUTPUT_LIMIT), error: null }),
        (error: unknown) => ({ status: 'failed' as const, output: null, error: reason(error, requestMs) }),
      );
    await db.asSystem((tx) => close(tx, run, outcome));
  }

  const closeAbandoned = () =>
    db.asSystem(async (tx) => {
      for (const run of await store.takeAbandoned(tx, clock(), 100))
        await close(
          tx,
          { id: run.id, taskId: run.task_id, userId: run.user_id, agentId: run.agent_id, name: run.name },
          { status: 'failed', output: null, error: 'Interrupted: the process that ran it ended' },
        );
    });

  async function beat(): Promise<void> {
    const due = await db.asSystem(async (tx) => {
      const now = clock();
      const found = await store.takeHeartbeats(tx, now, TASKS_A_CYCLE);
      for (const { agent_id, seconds } of found)
        await store.moveHeartbeat(tx, agent_id, now, new Date(now.getTime() + seconds * 1000));
      return found;
    });
    await Promise.all(
      due.map(({ agent_id, user_id }) =>
        wake
          .heartbeat({ id: agent_id, userId: user_id }, inTime())
          .catch((error: unknown) => log.warn({ err: error, agentId: agent_id }, 'heartbeat did not reach the agent')),
      ),
    );
  }

  async function cycle(): Promise<number> {
    await closeAbandoned();
    const runs = await db.asSystem(claim);
    await Promise.all([...runs.map(execute), beat(), ...chores.map((chore) => chore())]);
    return runs.length;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      // A full cycle means that more are waiting: the next one follows at once.
      const taken = await cycle().catch((error: unknown) => {
        log.error({ err: error }, 'scheduler cycle failed; trying again at the next poll');
        return 0;
      });
      if (taken < TASKS_A_CYCLE) await pause(pollMs, stopping.signal);
    }
  }

  return {
    cycle,
    start() {
      loop ??= run();
    },
    async close() {
      stopping.abort();
      const timer = setTimeout(() => hurry.abort(new Error('Interrupted: the platform was stopped')), closeMs);
      await loop;
      clearTimeout(timer);
    },
  };
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

function reason(error: unknown, requestMs: number): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `No answer within ${requestMs / 1000} s`;
  return error instanceof Error ? error.message : String(error);
}
