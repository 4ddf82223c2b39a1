import path from 'node:path';
import { sql } from 'kysely';
import {
  createGateway,
  createPgStore,
  createShelf,
  createToolkit,
  pgSkills,
  type ToolkitDeps,
  removeTree,
  wakeAgent,
  type Agent,
  type AgentDeps,
  type GatewayDeps,
  type Sandbox,
  type Verify,
} from '@troupe/agent';
import type { Database } from '@troupe/db';
import { AppError, createWorkerPool, type Log, type Outbound, type WorkerPool } from '@troupe/kernel';
import { backUp, putBack } from './embedded-backup.ts';
import { createCpuShare } from './cpu-share.ts';
import type { Driver } from './driver.ts';
import { mcpKeeping, type Whose } from './mcp-keeping.ts';
import type { AgentRow } from '@troupe/roster';

/**
 * Agents live in this process, as rows that are woken when somebody talks to them and put to sleep when nobody does. Any
 * process may wake any agent: the leases of its sessions keep two from doing the same work.
 */

export type Thinker = Pick<AgentRow, 'id' | 'user_id' | 'plan' | 'ai_provider' | 'provider_key'>;
export type Thinking = Pick<AgentDeps, 'model' | 'onTool' | 'onRun' | 'traced'>;

export interface EmbeddedDeps {
  db: Database;
  log: Log;
  version: string;
  /** Workspaces are in it. */
  dataDir: string;
  sandbox: Sandbox;
  outbound: Outbound;
  /** How commands and programs of agents reach the domains that they may reach. */
  egress?: ToolkitDeps['egress'];
  /** Seals what opens other servers. */
  sealKey?: string;
  /** The model on the account of the agent's owner. */
  thinking: (agent: Thinker) => Thinking;
  verify: Verify;
  publicUrl: (agentId: string) => string;
  webhook?: GatewayDeps['webhook'];
  /** An agent that nobody talks to for so long goes to sleep. */
  idleMs?: number;
  leaseMs?: number;
}

interface Awake {
  agent: Agent;
  userId: string;
  usedAt: number;
  /** From the next call on it thinks as this row says. */
  think: (row: Thinker) => void;
}

const IDLE_MS = 60_000;
const RECOVERED_AT_ONCE = 50;

export interface Embedded extends Driver {
  /** The agent itself, awake; undefined: there is none, throws 502 when it is stopped. */
  agent: (agentId: string) => Promise<Agent | undefined>;
  /** Forgets what this process knows of an agent, and stops its work here. */
  evict: (agentId: string) => Promise<void>;
  awake: () => number;
}

const rowOf = (db: Database, agentId: string) =>
  db.system
    .selectFrom('agents')
    .select(['id', 'user_id', 'team_id', 'plan', 'status', 'ai_provider', 'provider_key'])
    .where('id', '=', agentId)
    .executeTakeFirst();

/** What an agent thinks with, as it is at each call: its owner's plan or key may have changed. */
const switched = (now: () => Thinking): Thinking => ({
  model: {
    chat: (...args) => now().model.chat(...args),
    stream: (...args) => now().model.stream(...args),
  },
  onTool: (record) => now().onTool?.(record),
  onRun: (record) => now().onRun?.(record),
  traced: now().traced,
});

/** What an agent's tools run in and reach others by. */
function createWaysOut({ db, dataDir, sandbox, outbound, log, egress, sealKey }: EmbeddedDeps, pool: WorkerPool) {
  const shelf = createShelf({ root: path.join(dataDir, 'skills'), log });
  return (whose: Whose) => ({
    owner: whose.userId,
    pool,
    sandbox,
    outbound,
    log,
    skills: { shelf, source: pgSkills({ db, userId: whose.userId }) },
    ...(egress && { egress }),
    ...(sealKey !== undefined && mcpKeeping(db, whose, sealKey)),
  });
}

export function createEmbedded(deps: EmbeddedDeps): Embedded {
  const { db, log, version, dataDir, thinking, idleMs = IDLE_MS } = deps;
  const awake = new Map<string, Promise<Awake | undefined>>();
  const cpu = createCpuShare();
  const pool = createWorkerPool();
  const waysOut = createWaysOut(deps, pool);
  let closed = false;

  const workspaceOf = (agentId: string): string => path.join(dataDir, 'workspaces', agentId);

  function wake(row: Thinker & Pick<AgentRow, 'team_id'>): Awake {
    const { id: agentId, user_id: userId, team_id: teamId } = row;
    let now = thinking(row);
    const store = createPgStore({ db, userId, agentId, ...(teamId !== null && { teamId }) });
    const toolkit = createToolkit({
      store,
      workspaceRoot: workspaceOf(agentId),
      ...waysOut({ userId, agentId }),
      peers: async (member) => {
        const peer = await awaken(member.agentId);
        return peer?.userId === userId ? peer.agent : undefined;
      },
    });
    const agent = wakeAgent({
      agentId,
      owner: userId,
      store,
      ...toolkit,
      log,
      onSleep: toolkit.close,
      ...switched(() => now),
      ...(deps.leaseMs !== undefined && { leaseMs: deps.leaseMs, renewMs: Math.ceil(deps.leaseMs / 4) }),
    });
    const think = (changed: Thinker): void => {
      now = thinking(changed);
    };
    return { agent, userId, usedAt: Date.now(), think };
  }

  async function load(agentId: string): Promise<Awake | undefined> {
    const row = await rowOf(db, agentId);
    if (!row) return undefined;
    if (row.status !== 'running') throw new AppError(502, 'Agent is not running');
    return wake(row);
  }

  async function awaken(agentId: string): Promise<Awake | undefined> {
    if (closed) throw new AppError(503, 'The platform is stopping');
    const known = awake.get(agentId);
    const waking = known ?? load(agentId);
    if (!known) awake.set(agentId, waking);
    try {
      const found = await waking;
      if (found) found.usedAt = Date.now();
      else awake.delete(agentId);
      return found;
    } catch (error) {
      if (awake.get(agentId) === waking) awake.delete(agentId);
      throw error;
    }
  }

  async function evict(agentId: string): Promise<void> {
    const waking = awake.get(agentId);
    awake.delete(agentId);
    const found = await waking?.catch(() => undefined);
    await found?.agent.sleep();
  }

  async function rethink(agentId: string): Promise<void> {
    const found = await awake.get(agentId)?.catch(() => undefined);
    const row = found && (await rowOf(db, agentId));
    if (row) found.think(row);
  }

  async function sweep(): Promise<void> {
    for (const [agentId, waking] of awake) {
      const found = await waking.catch(() => undefined);
      if (!found || !found.agent.idle() || Date.now() - found.usedAt < idleMs) continue;
      awake.delete(agentId);
      await found.agent.sleep();
    }
  }
  const sweeper = setInterval(() => {
    sweep().catch((err: unknown) => log.error({ err }, 'agents could not be put to sleep'));
  }, idleMs / 2).unref();

  const gateway = createGateway({
    agent: async (agentId) => (await awaken(agentId))?.agent,
    verify: deps.verify,
    publicUrl: deps.publicUrl,
    version,
    log,
    ...(deps.webhook && { webhook: deps.webhook }),
  });

  const storeOf = ({ id: agentId, user_id: userId }: AgentRow) => createPgStore({ db, userId, agentId });

  /** The runtime is part of the platform: its one image is the name of this release, and agents of an older one move on. */
  const image = `troupe-agent:${version}`;

  return {
    name: 'embedded',
    image,
    refuses: (wanted) => (wanted === image ? undefined : `Agents in the platform run from ${image} only`),
    agent: async (agentId) => (await awaken(agentId))?.agent,
    evict,
    rethink,
    awake: () => awake.size,
    async start(agent) {
      if (!(await storeOf(agent).definition())) throw new AppError(404, 'Agent not found');
      return { version, image };
    },
    stop: ({ id }) => evict(id),
    async remove({ id }) {
      // Its rows are gone already, so its work ends by itself: no need to wait for that.
      void evict(id).catch((err: unknown) => log.warn({ err, agentId: id }, 'a removed agent did not sleep'));
      for (const ending of ['', '.restoring', '.restoring.rows', '.replaced'])
        await removeTree(workspaceOf(id) + ending);
    },
    backup: (agent, file) => backUp(db, agent, workspaceOf(agent.id), file),
    restore: (agent, file) => putBack(db, agent, workspaceOf(agent.id), file),
    async reset(agent) {
      await evict(agent.id);
      await storeOf(agent).reset();
    },
    // Each run reads the newest definition.
    configure: async () => {},
    async stats(agent) {
      const found = await awake.get(agent.id)?.catch(() => undefined);
      return {
        ...cpu.of(found?.agent.busy() ?? 0, awake.size),
        network: null,
        pids: 0,
        work: await storeOf(agent).stats(new Date()),
      };
    },
    handle: gateway.handle,
    upgrade: gateway.upgrade,
    cut: gateway.cut,
    async recover() {
      const { rows } = await sql<{ id: string }>`
        select distinct a.id from agent_sessions s join agents a on a.id = s.agent_id
        where s.status = 'open' and a.status = 'running' and (s.lease_owner is null or s.lease_until < clock_timestamp())
        limit ${RECOVERED_AT_ONCE}`.execute(db.system);
      for (const { id } of rows) {
        // One that cannot be taken up holds up nobody else's.
        await awaken(id)
          .then((found) => found?.agent.resume())
          .catch((err: unknown) => log.warn({ err, agentId: id }, 'unfinished work could not be taken up'));
      }
      return rows.length;
    },
    disconnect: gateway.close,
    async close() {
      closed = true;
      clearInterval(sweeper);
      await Promise.all([...awake.keys()].map(evict));
      await pool.close();
    },
  };
}
