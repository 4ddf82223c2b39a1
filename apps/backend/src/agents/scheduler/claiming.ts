import { parseSchedule } from '@troupe/domain';
import type { SystemTx } from '@troupe/db';
import { newId } from '@troupe/kernel';
import { promptOf } from './prompt.ts';
import * as store from './store.ts';
import * as triggered from './triggered-store.ts';

/** What a process takes of what is due, and of what arrived. */

/** Runs of a process at once, and those of them that only users with nothing under way get. */
const PLACES = 120;
const RESERVED = 20;
/** Taken in one transaction: so other processes get their part, and nobody here waits for the start of a hundred. */
const BATCH = 20;
/** Runs of one user at once, in all processes. */
const PER_USER = 10;
/** What the column takes. */
const MOST_OCCURRENCES = 2_147_483_647;

export interface Run {
  id: string;
  taskId: string;
  userId: string;
  agentId: string;
  name: string;
  prompt: string;
  source: string;
}

export interface Claimed {
  runs: Run[];
  /** With those that are skipped. */
  taken: number;
  /** More is due. */
  left: boolean;
  /** Some of it was chosen, and other processes were quicker. */
  lost: boolean;
}

interface Claim extends store.Shares {
  now: Date;
  leaseUntil: Date;
}

/** What may be taken at once by a process that has so many under way. */
export const sharesOf = (underWay: number): store.Shares => ({
  places: Math.min(PLACES - underWay, BATCH + RESERVED),
  reserved: RESERVED,
  perUser: PER_USER,
  busy: underWay > 0,
});

/** Writes the receipts, and moves the tasks on. */
export async function claimDue(tx: SystemTx, { now, leaseUntil, ...shares }: Claim): Promise<Claimed> {
  const { tasks, left, lost } = await store.takeDue(tx, now, shares);
  const runs: Run[] = [];
  const receipts: store.Receipt[] = [];
  for (const task of tasks) {
    const due = task.next_run!;
    const schedule = parseSchedule(task.cron_schedule, task.timezone, now);
    const id = newId();
    const missed = Math.min(schedule?.countBetween(due, now) ?? 0, MOST_OCCURRENCES - 1);
    const receipt = {
      id,
      task_id: task.id,
      user_id: task.user_id,
      due_at: due,
      occurrences: 1 + missed,
      started_at: now,
    };
    if (task.running) {
      const error = 'The run before was still going on';
      receipts.push({ ...receipt, status: 'skipped', finished_at: now, error, lease_until: null });
    } else {
      receipts.push({ ...receipt, status: 'running', finished_at: null, error: null, lease_until: leaseUntil });
      runs.push({
        id,
        taskId: task.id,
        userId: task.user_id,
        agentId: task.agent_id,
        name: task.name,
        prompt: task.prompt,
        source: 'schedule',
      });
    }
    await store.moveOn(tx, task.id, schedule?.next(now) ?? null, task.running ? null : now);
  }
  if (receipts.length > 0) await store.addReceipts(tx, receipts);
  return { runs, taken: tasks.length, left, lost };
}

export async function claimWaiting(tx: SystemTx, { now, ...shares }: Claim): Promise<Pick<Claimed, 'runs' | 'left'>> {
  const { runs, left } = await triggered.takeWaiting(tx, now, shares);
  return {
    left,
    runs: runs.map(({ id, task_id, user_id, agent_id, name, ...row }) => ({
      id,
      taskId: task_id,
      userId: user_id,
      agentId: agent_id,
      name,
      source: row.source,
      prompt: promptOf({ id, ...row }),
    })),
  };
}
