import type { RunLimits } from '@troupe/domain';
import type { Spent } from '../session/events.ts';
import type { Lease } from './lease.ts';

/** Work that was given to a member of the team and is not waited for: a row from before it begins until after its end is told. */

export type TaskStatus = 'running' | 'done' | 'failed' | 'stopped';

export interface NewTask {
  /** Of the call that began it: given again, it is the same task. */
  id: string;
  /** The lead's conversation, and the input that began its run there. */
  sessionId: string;
  runSeq: number;
  memberId: string;
  member: string;
  task: string;
  limits: RunLimits;
  /** How many tasks in the background stand above it, itself counted. */
  depth: number;
}

export interface BackgroundTask extends NewTask {
  status: TaskStatus;
  result: string;
  spent: Spent | null;
  /** The member's conversation, once it has the task. */
  memberSession: string | null;
  /** Its end is told to the lead. */
  tells: boolean;
  createdAt: string;
  endedAt: string | null;
}

export interface TaskBounds {
  /** At once, of an agent and of its owner. */
  ofLead: number;
  ofUser: number;
}

/** `lead`, `user`: there are as many under way as may be. `gone`: the conversation is. */
export type TaskAdded = 'added' | 'known' | 'lead' | 'user' | 'gone';

/** Letters of a task and of its result that a list shows. */
export const TASK_SHOWN = 500;
/** Settled ones further back than this from the newest are forgotten. */
export const TASKS_KEPT = 500;

export interface BackgroundStore {
  /** In the hands of who asks. */
  addTask: (task: NewTask, bounds: TaskBounds, lease: Lease) => Promise<TaskAdded>;
  task: (id: string) => Promise<BackgroundTask | undefined>;
  /** Newest first, texts cut short; `sessionId`: of this conversation, `running`: only those. */
  tasks: (page: { limit: number; offset?: number; sessionId?: string; running?: boolean }) => Promise<BackgroundTask[]>;
  /** Where the member works on it. False: it was stopped meanwhile. */
  placeTask: (id: string, memberSession: string) => Promise<boolean>;
  /** Once: false when it has ended before. */
  endTask: (
    id: string,
    end: { status: Exclude<TaskStatus, 'running'>; result: string; spent?: Spent; tells?: boolean },
  ) => Promise<boolean>;
  settleTask: (id: string) => Promise<void>;
  /** What is not settled and in nobody's hands, taken into these; the oldest first. */
  takeTasks: (lease: Lease, limit: number) => Promise<BackgroundTask[]>;
  /** Keeps in hand all that is there. */
  renewTasks: (lease: Lease) => Promise<void>;
  releaseTasks: (owner: string) => Promise<void>;
}
