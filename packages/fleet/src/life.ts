import { raiseNotice } from '@troupe/accounts';
import type { SystemTx } from '@troupe/db';
import { AppError } from '@troupe/kernel';
import type { AgentRow } from '@troupe/roster';
import type { Placement } from './driver.ts';
import type { FleetDeps } from './fleet-deps.ts';

export interface LifeDeps extends Pick<FleetDeps, 'db' | 'roster' | 'driver' | 'clock' | 'log'> {
  /** Tells the other processes. */
  tell: (agentId: string) => Promise<void>;
}

/** Another start time, so that it counts as started anew. */
export const fresh = (agent: AgentRow): AgentRow => ({ ...agent, started_at: null });

/** What a row says of an agent that runs as it should. */
export const RUNNING = { status: 'running', failure: null, lost: false } as const;

const failed = ({ id, user_id: userId, name }: AgentRow, message: string) =>
  ({
    userId,
    kind: 'agent_failed',
    subject: id,
    message: `${name} failed: ${message}`,
    link: `/dashboard/agents/${id}`,
  }) as const;

/** Makes an agent run, or not, and has its row say so. Whoever calls has made sure that nobody else acts on it. */
export function createLife({ db, roster, driver, clock, log, tell }: LifeDeps) {
  /** It is no longer as it should be, and its owner hears of it. */
  async function markFailed(agent: AgentRow, message: string, lost = false): Promise<void> {
    await roster.change(agent.id, { status: agent.team_id ? 'failed' : 'error', failure: message, lost });
    await db.asSystem((tx) => raiseNotice(tx, failed(agent, message), clock()));
  }

  async function fail(agent: AgentRow, error: unknown): Promise<never> {
    const message = error instanceof AppError ? error.message : 'The agent could not be started';
    log.error({ err: error, agentId: agent.id }, 'an agent could not be started');
    await markFailed(agent, message);
    throw error instanceof AppError ? error : new AppError(500, message, {}, { cause: error });
  }

  async function bringUp(agent: AgentRow): Promise<{ agent: AgentRow; placement: Placement }> {
    const placement = await driver.start(agent).catch((error: unknown) => fail(agent, error));
    const goesOn = agent.status === 'running' && agent.started_at !== null;
    const changed = await roster.change(agent.id, {
      status: placement.deploying ? 'provisioning' : 'running',
      failure: null,
      lost: false,
      image: placement.image,
      outside: placement.container !== undefined,
      runtime_version: placement.version,
      ...(goesOn ? {} : { started_at: clock() }),
    });
    return { agent: changed, placement };
  }

  async function takeDown(agent: AgentRow): Promise<void> {
    await driver.stop(agent);
    await tell(agent.id);
  }

  async function stop(agent: AgentRow): Promise<AgentRow> {
    const stopped = await roster.change(agent.id, { status: 'stopped', started_at: null });
    await driver.halt?.(agent.id);
    await takeDown(agent);
    return stopped;
  }

  async function again(agent: AgentRow): Promise<AgentRow> {
    await takeDown(agent);
    return (await bringUp(fresh(agent))).agent;
  }

  async function rotateToken(agent: AgentRow, record: (tx: SystemTx) => Promise<void>): Promise<string> {
    const token = await roster.newToken(agent, record);
    const isInside = agent.driver === 'hosting' || driver.holdsToken === true;
    if (isInside && agent.status === 'running') await again(await roster.get(agent.id));
    return token;
  }

  return { bringUp, takeDown, stop, again, rotateToken, markFailed };
}
export type Life = ReturnType<typeof createLife>;
