import { NO_SCHEDULE, RUN_ERRORS, type backend, type TypesOf } from '@troupe/contract';
import type { UserTx } from '@troupe/db';
import { isPlan, isTimeZone, parseSchedule, PLAN_LIMITS } from '@troupe/domain';
import { AppError, iso, isoOrNull, newId } from '@troupe/kernel';
import type { Wake } from '../scheduler/service.ts';
import * as store from './deployments-store.ts';
import { changed, paged, type ListQuery } from './paging.ts';
import type { Managed, ManagedDeps } from './service.ts';
import type { ManagedSessions } from './sessions.ts';
import { remove as removeSession, session as findSession, type Metadata } from './store.ts';

/**
 * Deployments as clients of Managed Agents know them: scheduled tasks that begin a session each time. The scheduler runs
 * them as it runs all tasks; their receipts are their runs.
 */

export interface DeploymentDeps extends Pick<ManagedDeps, 'db' | 'clock'> {
  managed: Managed;
  sessions: Pick<ManagedSessions, 'create' | 'begin'>;
}

type Create = TypesOf<typeof backend.managed.createDeployment>['body'];
type Change = TypesOf<typeof backend.managed.updateDeployment>['body'];
type Shown = TypesOf<typeof backend.managed.getDeployment>['reply'];
type Run = TypesOf<typeof backend.managed.getDeploymentRun>['reply'];
type RunError = (typeof RUN_ERRORS)[number];

export type Deployments = ReturnType<typeof createDeployments>;

/** What is told of the times to come. */
const UPCOMING = 5;
const MOST_AN_HOUR = 300;
/** How long a run by hand may take before somebody else goes on with it. */
const LEASE_MS = 60_000;

const promptOf = ([first]: Create['initial_events']): string => first!.content.map(({ text }) => text).join('\n');
const gone = () => new AppError(404, 'Deployment not found');

export function createDeployments(deps: DeploymentDeps) {
  const inner = reading(deps);
  const execute = createExecute(deps);
  return {
    ...inner.endpoints,
    ...making(deps, inner),
    ...changingOf(deps, inner),
    ...running(deps, inner, execute),
    execute,
  };
}

interface Inner {
  shown: (userId: string, row: store.DeploymentRow) => Promise<Shown>;
  shownRun: (userId: string, row: store.RunRow) => Promise<Run>;
  got: (userId: string, id: string) => Promise<store.DeploymentRow>;
}

function scheduleOf({ cron_schedule, timezone, enabled, last_run, archived_at }: store.DeploymentRow, now: Date) {
  if (cron_schedule === NO_SCHEDULE) return null;
  const schedule = enabled && archived_at === null ? parseSchedule(cron_schedule, timezone, now) : null;
  const upcoming: string[] = [];
  for (let at = schedule?.next(now); at && upcoming.length < UPCOMING; at = schedule!.next(at)) upcoming.push(iso(at));
  return {
    type: 'cron' as const,
    expression: cron_schedule,
    timezone,
    last_run_at: isoOrNull(last_run),
    upcoming_runs_at: upcoming,
  };
}

/** Why there is no session, in the words of the protocol. */
function kindOf(error: unknown): RunError {
  if (!(error instanceof AppError)) return 'unknown_error';
  const named = RUN_ERRORS.find((kind) => kind === error.code);
  if (named) return named;
  if (error.status === 429) return 'session_rate_limited_error';
  return error.status < 500 ? 'session_creation_rejected_error' : 'unknown_error';
}

function reading(deps: DeploymentDeps): Inner & { endpoints: ReturnType<typeof readEndpoints> } {
  const { db, clock, managed } = deps;
  const agentOf = async (userId: string, id: string) => {
    const { version } = await managed.getAgent(userId, id, undefined);
    return { type: 'agent' as const, id, version };
  };
  const shown: Inner['shown'] = async (userId, row) => ({
    type: 'deployment',
    id: row.id,
    name: row.name,
    description: row.description,
    agent: await agentOf(userId, row.agent_id),
    environment_id: row.environment_id,
    initial_events: [{ type: 'user.message', content: [{ type: 'text', text: row.prompt }] }],
    schedule: scheduleOf(row, clock()),
    status: row.enabled ? 'active' : 'paused',
    paused_reason: row.enabled ? null : { type: 'manual' },
    resources: [],
    vault_ids: [],
    budget: null,
    metadata: row.metadata as Metadata,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    archived_at: isoOrNull(row.archived_at),
  });
  const shownRun: Inner['shownRun'] = async (userId, row) => ({
    type: 'deployment_run',
    id: row.id,
    deployment_id: row.task_id,
    agent: await agentOf(userId, row.agent_id),
    session_id: row.session_id,
    error: row.error === null ? null : { type: (row.kind ?? 'unknown_error') as RunError, message: row.error },
    trigger_context:
      row.source === 'schedule' ? { type: 'schedule', scheduled_at: iso(row.due_at) } : { type: 'manual' },
    created_at: iso(row.started_at),
  });
  const got: Inner['got'] = async (userId, id) => {
    const row = await store.find(db.user(userId), id);
    if (!row) throw gone();
    return row;
  };
  const inner = { shown, shownRun, got };
  return { ...inner, endpoints: readEndpoints(deps, inner) };
}

interface ListDeployments extends ListQuery {
  agent_id?: string | undefined;
  status?: 'active' | 'paused' | undefined;
}
interface ListRuns extends Omit<ListQuery, 'include_archived'> {
  deployment_id?: string | undefined;
  has_error?: 'true' | 'false' | undefined;
  trigger_type?: 'manual' | 'schedule' | undefined;
}

function readEndpoints({ db, managed }: DeploymentDeps, { shown, shownRun, got }: Inner) {
  return {
    get: async (userId: string, id: string) => shown(userId, await got(userId, id)),
    async list(userId: string, { agent_id: agentId, status, ...query }: ListDeployments) {
      if (agentId !== undefined) await managed.getAgent(userId, agentId, undefined);
      const enabled = status === undefined ? undefined : status === 'active';
      return paged(
        query,
        (page) => store.list(db, userId, { ...page, agentId, enabled }),
        (row) => shown(userId, row),
      );
    },
    async getRun(userId: string, id: string) {
      const row = await store.findRun(db, userId, id);
      if (!row) throw new AppError(404, 'Run not found');
      return shownRun(userId, row);
    },
    async listRuns(
      userId: string,
      { deployment_id: deploymentId, has_error, trigger_type: trigger, ...query }: ListRuns,
    ) {
      if (deploymentId !== undefined) await got(userId, deploymentId);
      const hasError = has_error === undefined ? undefined : has_error === 'true';
      return paged(
        { ...query, include_archived: 'true' },
        (page) => store.listRuns(db, userId, { ...page, deploymentId, hasError, trigger }),
        (row) => shownRun(userId, row),
      );
    },
  };
}

/** What a deployment is made of, looked at before anything is written. */
function checking({ clock, managed }: DeploymentDeps) {
  /** When it comes next; one that is paused, or has no schedule, comes never. */
  function nextRun(cron: string, timezone: string, enabled: boolean): Date | null {
    if (!isTimeZone(timezone)) throw new AppError(400, 'Invalid timezone');
    if (cron === NO_SCHEDULE) return null;
    const schedule = parseSchedule(cron, timezone, clock());
    if (!schedule) throw new AppError(400, 'Invalid cron schedule');
    return enabled ? schedule.next(clock()) : null;
  }
  async function agentIdOf(userId: string, agent: Create['agent']): Promise<string> {
    const found = await managed.getAgent(userId, typeof agent === 'string' ? agent : agent.id, undefined);
    if (found.archived_at !== null) throw new AppError(400, 'The agent is archived');
    return found.id;
  }
  async function checkEnvironment(userId: string, id: string): Promise<void> {
    if ((await managed.getEnvironment(userId, id)).archived_at !== null)
      throw new AppError(400, 'The environment is archived');
  }
  return { nextRun, agentIdOf, checkEnvironment };
}

const timesOf = (schedule: Create['schedule']) => ({
  cron_schedule: schedule?.expression ?? NO_SCHEDULE,
  timezone: schedule?.timezone ?? 'UTC',
});

function making(deps: DeploymentDeps, { shown, got }: Inner) {
  const { db, clock } = deps;
  const { nextRun, agentIdOf, checkEnvironment } = checking(deps);
  return {
    async create({ userId, plan }: { userId: string; plan?: unknown }, body: Create) {
      const agentId = await agentIdOf(userId, body.agent);
      await checkEnvironment(userId, body.environment_id);
      const times = timesOf(body.schedule);
      const at = clock();
      const limit = PLAN_LIMITS[isPlan(plan) ? plan : 'solo'].tasks;
      const task = {
        id: newId(),
        user_id: userId,
        agent_id: agentId,
        name: body.name,
        description: body.description ?? null,
        ...times,
        prompt: promptOf(body.initial_events),
        enabled: true,
        next_run: nextRun(times.cron_schedule, times.timezone, true),
        created_at: at,
        updated_at: at,
      };
      const own = { environment_id: body.environment_id, metadata: JSON.stringify(body.metadata ?? {}) };
      await db.asUser(userId, async (tx) => {
        if ((await store.countTasks(tx, userId)) >= limit)
          throw new AppError(429, `Scheduled task limit reached (${limit} on your plan). Delete one first.`);
        await store.add(tx, task, own);
      });
      return shown(userId, await got(userId, task.id));
    },
  };
}

function changingOf(deps: DeploymentDeps, { shown, got }: Inner) {
  const { db, clock } = deps;
  const { nextRun, agentIdOf, checkEnvironment } = checking(deps);
  const changing = (userId: string, id: string, work: (tx: UserTx, was: store.DeploymentRow) => Promise<void>) =>
    db.asUser(userId, async (tx) => {
      const was = await store.lock(tx, id);
      if (!was) throw gone();
      await work(tx, was);
    });
  const checkLiving = ({ archived_at }: store.DeploymentRow): void => {
    if (archived_at !== null) throw new AppError(400, 'The deployment is archived');
  };
  const turn = (userId: string, id: string, enabled: boolean) =>
    changing(userId, id, async (tx, was) => {
      checkLiving(was);
      const next_run = nextRun(was.cron_schedule, was.timezone, enabled);
      await store.change(tx, id, { enabled, next_run, failures_in_row: 0, updated_at: clock() }, {});
    }).then(async () => shown(userId, await got(userId, id)));

  return {
    async update(userId: string, id: string, body: Change) {
      const agentId = body.agent === undefined ? undefined : await agentIdOf(userId, body.agent);
      if (body.environment_id !== undefined) await checkEnvironment(userId, body.environment_id);
      await changing(userId, id, async (tx, was) => {
        checkLiving(was);
        const times = body.schedule === undefined ? was : timesOf(body.schedule);
        const { cron_schedule, timezone } = times;
        const task = {
          ...(agentId !== undefined && { agent_id: agentId }),
          ...(body.name !== undefined && { name: body.name }),
          ...(body.description !== undefined && { description: body.description }),
          ...(body.initial_events && { prompt: promptOf(body.initial_events) }),
          cron_schedule,
          timezone,
          next_run: nextRun(cron_schedule, timezone, was.enabled),
          failures_in_row: 0,
          updated_at: clock(),
        };
        await store.change(tx, id, task, {
          ...(body.environment_id !== undefined && { environment_id: body.environment_id }),
          metadata: JSON.stringify(changed(was.metadata as Metadata, body.metadata)),
        });
      });
      return shown(userId, await got(userId, id));
    },

    async archive(userId: string, id: string) {
      await changing(userId, id, async (tx, was) => {
        const at = clock();
        const task = { enabled: false, next_run: null, updated_at: at };
        await store.change(tx, id, task, { archived_at: was.archived_at ?? at });
      });
      return shown(userId, await got(userId, id));
    },

    pause: (userId: string, id: string) => turn(userId, id, false),
    unpause: (userId: string, id: string) => turn(userId, id, true),
  };
}

type Execute = (run: { userId: string; taskId: string; prompt: string; runId: string }) => Promise<string | undefined>;

/** Begins the session of a run, once however often it is asked for; undefined: the task is no deployment. */
function createExecute({ db, sessions }: DeploymentDeps): Execute {
  const holds = () => undefined;
  return async ({ userId, taskId, prompt, runId }) => {
    const deployment = await store.find(db.user(userId), taskId);
    if (!deployment) return undefined;
    const id = `sesn_${runId}`;
    try {
      if (!(await findSession(db, userId, id))) {
        const { agent_id: agent, environment_id, name: title } = deployment;
        await sessions.create(userId, { agent, environment_id, title }, { holds }, { id, deploymentId: taskId });
      }
      await sessions.begin(userId, id, prompt, runId);
    } catch (error) {
      // A session in which nothing was said is nobody's.
      await removeSession(db, userId, 'managed_sessions', id);
      await store.noteRun(db, userId, runId, { session_id: null, error: kindOf(error) });
      throw error;
    }
    await store.noteRun(db, userId, runId, { session_id: id, error: null });
    return `Began the session ${id}`;
  };
}

function running({ db }: DeploymentDeps, { got, shownRun }: Inner, execute: Execute) {
  return {
    async run(userId: string, id: string) {
      const { archived_at, prompt } = await got(userId, id);
      if (archived_at !== null) throw new AppError(400, 'The deployment is archived');
      const runId = newId();
      await db.asUser(userId, async (tx) => {
        if (!(await store.lock(tx, id))) throw gone();
        if ((await store.countRuns(tx, id)) >= MOST_AN_HOUR) throw new AppError(429, 'Too many runs within an hour');
        await store.beginRun(tx, runId, { taskId: id, userId }, LEASE_MS);
      });
      const came = await execute({ userId, taskId: id, prompt, runId }).then(
        (output) => ({ output: output ?? null, error: null }),
        (error: unknown) => ({ output: null, error: error instanceof Error ? error.message : String(error) }),
      );
      await store.endRun(db.system, runId, came);
      const row = await store.findRun(db, userId, runId);
      if (!row) throw gone();
      return shownRun(userId, row);
    },
    /** The scheduler's way to an agent, with deployments in it. */
    waking: (wake: Wake): Wake => ({
      ...wake,
      async execute(agent, task, signal) {
        const { id: taskId, prompt, runId } = task;
        const began = await execute({ userId: agent.userId, taskId, prompt, runId });
        return began ?? wake.execute(agent, task, signal);
      },
    }),
  };
}
