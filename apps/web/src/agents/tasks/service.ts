import { NO_SCHEDULE, type ScheduledTask } from '@troupe/contract';
import { isTimeZone, ownPlan, parseSchedule, PLAN_LIMITS } from '@troupe/domain';
import type { Database } from '@troupe/db';
import { AppError, createReadTurns, iso, isoOrNull, newId, type Clock, type User } from '@troupe/kernel';
import * as store from './store.ts';

export interface TasksDeps {
  db: Database;
  clock: Clock;
}

export interface TaskInput {
  name: string;
  cronSchedule: string;
  prompt: string;
  agentId: string;
  description?: string | null;
  enabled?: boolean;
  timezone?: string;
  tells?: ScheduledTask['tells'];
}

export type TasksService = ReturnType<typeof createTasks>;

type Row = NonNullable<Awaited<ReturnType<typeof store.lockTask>>>;

const shown = (row: Row): ScheduledTask => ({
  id: row.id,
  name: row.name,
  description: row.description,
  cronSchedule: row.cron_schedule,
  timezone: row.timezone,
  prompt: row.prompt,
  enabled: row.enabled,
  lastRun: isoOrNull(row.last_run),
  nextRun: isoOrNull(row.next_run),
  agentId: row.agent_id,
  tells: row.tells,
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});

const shownRun = (row: NonNullable<Awaited<ReturnType<typeof store.findRun>>>) => ({
  id: row.id,
  dueAt: iso(row.due_at),
  occurrences: row.occurrences,
  startedAt: iso(row.started_at),
  finishedAt: isoOrNull(row.finished_at),
  status: row.status,
  output: row.output,
  error: row.error,
  source: row.source,
  triggerId: row.trigger_id,
  input: row.input,
});

function reading({ db }: TasksDeps) {
  return {
    async runs(userId: string, taskId: string, limit: number) {
      if (!(await store.taskExists(db.user(userId), taskId))) throw new AppError(404, 'Task not found');
      const rows = await store.listRuns(db.user(userId), taskId, limit);
      const runs = rows.map(shownRun);
      return { runs, count: runs.length };
    },

    async run(userId: string, taskId: string, runId: string) {
      const row = await store.findRun(db.user(userId), taskId, runId);
      if (!row) throw new AppError(404, 'Run not found');
      return shownRun(row);
    },
  };
}

function createNextRun({ clock }: TasksDeps) {
  /** When it comes next; a task that is off, or has no schedule, comes never. */
  function nextRun(cronSchedule: string, timezone: string, enabled: boolean): Date | null {
    if (!isTimeZone(timezone)) throw new AppError(400, 'Invalid timezone');
    if (cronSchedule.trim() === NO_SCHEDULE) return null;
    const schedule = parseSchedule(cronSchedule, timezone, clock());
    if (!schedule) throw new AppError(400, 'Invalid cron schedule');
    return enabled ? schedule.next(clock()) : null;
  }

  return nextRun;
}

function making({ db, clock }: TasksDeps, nextRun: ReturnType<typeof createNextRun>) {
  return {
    async create(
      user: User,
      {
        name,
        cronSchedule,
        prompt,
        agentId,
        description = null,
        enabled = true,
        timezone = 'UTC',
        tells = null,
      }: TaskInput,
    ) {
      const next_run = nextRun(cronSchedule, timezone, enabled);
      const now = clock();
      const userId = user.id;
      const limit = PLAN_LIMITS[ownPlan(user) ?? 'solo'].tasks;
      return db.asUser(userId, async (tx) => {
        if (!(await store.ownsAgent(tx, agentId))) throw new AppError(404, 'Agent not found');
        if ((await store.countTasks(tx, userId)) >= limit)
          throw new AppError(429, `Scheduled task limit reached (${limit} on your plan). Delete one first.`);
        const row = await store.insertTask(tx, {
          id: newId(),
          user_id: userId,
          agent_id: agentId,
          name,
          description,
          cron_schedule: cronSchedule,
          timezone,
          prompt,
          enabled,
          tells,
          next_run,
          created_at: now,
          updated_at: now,
        });
        return shown(row);
      });
    },
  };
}

export function createTasks(deps: TasksDeps) {
  const { db, clock } = deps;
  const nextRun = createNextRun(deps);
  const inTurn = createReadTurns();

  return {
    async list(userId: string, agentId: string | undefined, page: store.Page) {
      const rows = await inTurn(userId, () => store.listTasks(db.user(userId), agentId, page));
      const tasks = rows.slice(0, page.limit).map(shown);
      return { tasks, count: tasks.length, hasMore: (rows[0]?.found ?? 0) > tasks.length };
    },

    ...making(deps, nextRun),
    update: (userId: string, taskId: string, change: Partial<Omit<TaskInput, 'agentId'>>) =>
      db.asUser(userId, async (tx) => {
        const before = await store.lockTask(tx, taskId);
        if (!before) throw new AppError(404, 'Task not found');
        const fields = {
          name: change.name ?? before.name,
          description: change.description === undefined ? before.description : change.description,
          cron_schedule: change.cronSchedule ?? before.cron_schedule,
          timezone: change.timezone ?? before.timezone,
          prompt: change.prompt ?? before.prompt,
          enabled: change.enabled ?? before.enabled,
          tells: change.tells === undefined ? before.tells : change.tells,
        };
        const next_run = nextRun(fields.cron_schedule, fields.timezone, fields.enabled);
        return shown(await store.updateTask(tx, taskId, { ...fields, next_run, updated_at: clock() }));
      }),

    async remove(userId: string, taskId: string | undefined) {
      if (!taskId) throw new AppError(400, 'taskId required');
      if (!(await store.removeTask(db.user(userId), taskId))) throw new AppError(404, 'Task not found');
      return { success: true as const, taskId };
    },

    ...reading(deps),
  };
}
