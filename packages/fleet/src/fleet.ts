import { raiseNotice } from '@troupe/accounts';
import { notify, type Database } from '@troupe/db';
import { FREE_PLAN, isPlan } from '@troupe/domain';
import { AppError, newId, type Clock, type Log } from '@troupe/kernel';
import type { Driver, Placement } from './driver.ts';
import { createOperations } from './operations.ts';
import { LimitReached, type AgentRow, type Registry } from './registry.ts';

/** Told to all processes when an agent was stopped or removed; `heard` reads it. */
export const AGENT_CHANGED = 'agent_changed';

export interface Updated {
  image: string;
  previousImage: string;
  backupPath: string;
  agent: AgentRow;
}

const ABANDONED_MS = 60_000;

/** The lives of agents: each action at most once at a time, and finished by another process when this one dies. */
export interface Fleet {
  readonly driver: Driver;
  /** Makes it run. Whether it ran before is told by `was`. */
  start: (agent: AgentRow) => Promise<{ agent: AgentRow; was: string; placement: Placement }>;
  stop: (agent: AgentRow) => Promise<AgentRow>;
  restart: (agent: AgentRow) => Promise<AgentRow>;
  update: (agent: AgentRow, image?: string) => Promise<Updated>;
  repair: (agent: AgentRow) => Promise<AgentRow>;
  resetMemory: (agent: AgentRow) => Promise<void>;
  remove: (agent: AgentRow) => Promise<void>;
  /** The agent that a notice of AGENT_CHANGED is about; undefined: this process told it. */
  heard: (notice: string) => string | undefined;
  /** Takes up what is due: actions and work that processes which died have left. */
  recover: () => Promise<void>;
}

export interface FleetDeps {
  db: Database;
  registry: Registry;
  driver: Driver;
  clock: Clock;
  log: Log;
  leaseMs?: number;
}

export function createFleet({ db, registry, driver, clock, log, leaseMs }: FleetDeps): Fleet {
  const operations = createOperations({ db, log, redo, ...(leaseMs !== undefined && { leaseMs }) });

  const self = newId();
  const tell = (agentId: string): Promise<void> => notify(db.system, AGENT_CHANGED, `${self} ${agentId}`);

  /** The newest row: what was read before the wait for our turn may be old. */
  const serially = <T>(agent: AgentRow, action: string, work: (now: AgentRow) => Promise<T>): Promise<T> =>
    operations.run(agent.id, action, async () => work(await registry.get(agent.id)));

  async function fail(agent: AgentRow, error: unknown): Promise<never> {
    const message = error instanceof AppError ? error.message : 'The agent could not be started';
    log.error({ err: error, agentId: agent.id }, 'an agent could not be started');
    await registry.change(agent.id, { status: agent.team_id ? 'failed' : 'error', failure: message });
    await db.asSystem((tx) =>
      raiseNotice(
        tx,
        {
          userId: agent.user_id,
          kind: 'agent_failed',
          subject: agent.id,
          message: `${agent.name} failed: ${message}`,
          link: `/dashboard/agents/${agent.id}`,
        },
        clock(),
      ),
    );
    throw error instanceof AppError ? error : new AppError(500, message, {}, { cause: error });
  }

  async function bringUp(agent: AgentRow): Promise<{ agent: AgentRow; placement: Placement }> {
    const placement = await driver.start(agent).catch((error: unknown) => fail(agent, error));
    const goesOn = agent.status === 'running' && agent.started_at !== null;
    const changed = await registry.change(agent.id, {
      status: 'running',
      failure: null,
      image: agent.image ?? driver.image,
      runtime_version: placement.version,
      ...(goesOn ? {} : { started_at: clock() }),
    });
    return { agent: changed, placement };
  }

  /** Another start time, so that it counts as started anew. */
  const fresh = (agent: AgentRow): AgentRow => ({ ...agent, started_at: null });

  async function takeDown(agent: AgentRow): Promise<void> {
    await driver.stop(agent);
    await tell(agent.id);
  }

  async function guard(agent: AgentRow): Promise<void> {
    if (!isPlan(agent.plan)) throw new AppError(FREE_PLAN.status, FREE_PLAN.message, { code: 'PAYMENT_REQUIRED' });
    try {
      await registry.room(agent);
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error;
      const { current, limit } = error;
      throw new AppError(402, error.message, { code: 'AGENT_LIMIT_REACHED', current, limit });
    }
  }

  async function removeNow(agent: AgentRow): Promise<void> {
    // The rows first: whatever still works for it finds nothing to write to.
    await registry.delete(agent.id);
    await driver.remove(agent);
    await tell(agent.id);
  }

  async function stopNow(agent: AgentRow): Promise<AgentRow> {
    const stopped = await registry.change(agent.id, { status: 'stopped', started_at: null });
    await takeDown(agent);
    return stopped;
  }

  async function again(agent: AgentRow): Promise<AgentRow> {
    await takeDown(agent);
    return (await bringUp(fresh(agent))).agent;
  }

  async function updateNow(agent: AgentRow, given?: string): Promise<Updated> {
    const previousImage = agent.image ?? driver.image;
    const image = given ?? driver.image;
    const backupPath = await driver.backup(agent);
    try {
      await takeDown(agent);
      const placement = await driver.start({ ...agent, image });
      const changed = await registry.change(agent.id, {
        status: 'running',
        failure: null,
        image,
        previous_image: previousImage,
        runtime_version: placement.version,
        started_at: clock(),
      });
      return { image, previousImage, backupPath, agent: changed };
    } catch (error) {
      log.error({ err: error, agentId: agent.id, image }, 'an update failed; the previous image comes back');
      await driver.stop({ ...agent, image });
      await bringUp(fresh(agent));
      const why = error instanceof AppError ? error.message : 'the new image did not start';
      throw new AppError(500, `Update failed, the previous image is running again: ${why}`, { backupPath });
    }
  }

  /** Made by a web process that died, or lost its way, before the backend heard of them. */
  const abandoned = (): Promise<AgentRow[]> =>
    db.system
      .selectFrom('agents')
      .selectAll()
      .where('status', '=', 'provisioning')
      .where('plan', '!=', 'free')
      .where('updated_at', '<', new Date(clock().getTime() - ABANDONED_MS))
      .limit(100)
      .execute();

  /** What a process that died was doing. The row still says the old image, so an update that was cut short is undone. */
  async function redo(agentId: string, action: string): Promise<void> {
    const agent = await registry.find(agentId);
    if (!agent) return driver.remove({ id: agentId } as AgentRow);
    if (action === 'remove') return removeNow(agent);
    if (action === 'stop') return void (await stopNow(agent));
    if (action === 'reset-memory') return driver.reset(agent);
    await again(agent);
  }

  return {
    driver,
    async start(agent) {
      await guard(agent);
      return serially(agent, 'start', async (now) => ({ was: now.status, ...(await bringUp(now)) }));
    },
    stop: (agent) => serially(agent, 'stop', stopNow),
    async restart(agent) {
      await guard(agent);
      return serially(agent, 'restart', again);
    },
    async update(agent, image) {
      await guard(agent);
      return serially(agent, 'update', (now) => updateNow(now, image));
    },
    async repair(agent) {
      await guard(agent);
      return serially(agent, 'repair', again);
    },
    heard(notice) {
      const [teller, agentId] = notice.split(' ');
      return teller === self ? undefined : agentId;
    },
    resetMemory: (agent) => serially(agent, 'reset-memory', (now) => driver.reset(now)),
    remove: (agent) => serially(agent, 'remove', removeNow),
    async recover() {
      await operations.recover();
      for (const agent of await abandoned()) await serially(agent, 'start', bringUp).catch(() => undefined);
      await driver.recover();
    },
  };
}
