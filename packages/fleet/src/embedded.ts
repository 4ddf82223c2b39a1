import { sql } from 'kysely';
import { createGateway, createPgStore, type Agent, type GatewayDeps, type Verify } from '@troupe/agent';
import type { Blobs } from '@troupe/db';
import { AppError, createWorkerPool, Linked } from '@troupe/kernel';
import type { AgentRow } from '@troupe/roster';
import { createAgentFiles, type AgentFiles } from './agent-files.ts';
import { AwakeAgents, type AwakeDeps } from './awake.ts';
import { createCpuShare } from './cpu-share.ts';
import type { Driver } from './driver.ts';

export type { Thinker, Thinking } from './awake.ts';

/**
 * Agents live in this process, as rows that are woken when somebody talks to them and put to sleep when nobody does. Any
 * process may wake any agent: the leases of its sessions keep two from doing the same work.
 */

export interface EmbeddedDeps extends AwakeDeps {
  version: string;
  /** Where workspaces are kept; left out: in the folder. */
  blobs?: Blobs | undefined;
  verify: Verify;
  publicUrl: (agentId: string) => string;
  webhook?: GatewayDeps['webhook'];
  push?: GatewayDeps['push'];
}

const RECOVERED_AT_ONCE = 50;

export interface Embedded extends Driver {
  /** The agent itself, awake; undefined: there is none, throws 502 when it is stopped. */
  agent: (agentId: string) => Promise<Agent | undefined>;
  /** Forgets what this process knows of an agent, and stops its work here. */
  evict: (agentId: string) => Promise<void>;
  awake: () => number;
  /** To be called once, before the first agent wakes. */
  adopt: AgentFiles['actions']['adopt'];
}

/** Takes up what processes that died have left. */
async function recover({ db, log }: EmbeddedDeps, awake: AwakeAgents): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    select a.id from agents a join (
      select agent_id from agent_sessions
      where status = 'open' and (lease_owner is null or lease_until < clock_timestamp())
      union select agent_id from agent_background
      where not settled and (lease_owner is null or lease_until < clock_timestamp())) left_behind on left_behind.agent_id = a.id
    where a.status = 'running' limit ${RECOVERED_AT_ONCE}`.execute(db.system);
  for (const { id } of rows) {
    // One that cannot be taken up holds up nobody else's.
    await awake
      .get(id)
      .then((found) => found?.resume())
      .catch((err: unknown) => log.warn({ err, agentId: id }, 'unfinished work could not be taken up'));
  }
  return rows.length;
}

function openGateway({ verify, publicUrl, version, log, webhook, push }: EmbeddedDeps, awake: AwakeAgents) {
  const waiting: NonNullable<GatewayDeps['waiting']> = new Linked();
  const gateway = createGateway({
    waiting,
    agent: (agentId) => awake.get(agentId),
    kept: (agentId) => awake.kept(agentId),
    verify,
    publicUrl,
    version,
    log,
    push,
    ...(webhook && { webhook }),
  });
  return { ...gateway, handOver: () => waiting.values().forEach((tell) => tell()) };
}

export function createEmbedded(deps: EmbeddedDeps): Embedded {
  const { db, log, version } = deps;
  const cpu = createCpuShare();
  const pool = createWorkerPool();
  const files = createAgentFiles({ ...deps, pool });
  const awake = new AwakeAgents(deps, files, pool);
  const agent = (agentId: string): Promise<Agent | undefined> => awake.get(agentId);
  const evict = (agentId: string): Promise<void> => awake.evict(agentId);
  const gateway = openGateway(deps, awake);

  const storeOf = ({ id: agentId, user_id: userId }: AgentRow) => createPgStore({ db, userId, agentId });

  /** The runtime is part of the platform: its one image is the name of this release, and agents of an older one move on. */
  const image = `troupe-agent:${version}`;

  return {
    name: 'embedded',
    image,
    refuses: (wanted) => (wanted === image ? undefined : `Agents in the platform run from ${image} only`),
    agent,
    evict,
    rethink: (agentId) => awake.rethink(agentId),
    forgetServer: (userId, name) => awake.forgetServer(userId, name),
    awake: () => awake.size,
    async start(row) {
      if (!(await storeOf(row).definition())) throw new AppError(404, 'Agent not found');
      return { version, image };
    },
    halt: (agentId) => awake.halt(agentId),
    stop: ({ id }) => evict(id),
    remove({ id }) {
      // Its rows are gone already, so its work ends by itself: no need to wait for that.
      void evict(id).catch((err: unknown) => log.warn({ err, agentId: id }, 'a removed agent did not sleep'));
      return files.remove(id);
    },
    ...files.actions,
    async reset(row) {
      await awake.halt(row.id);
      await evict(row.id);
      await storeOf(row).reset();
    },
    // Each run reads the newest definition.
    configure: async () => {},
    async stats(row) {
      const share = cpu.of(await awake.busy(row.id), awake.size);
      return { ...share, network: null, pids: 0, work: await storeOf(row).stats(new Date()) };
    },
    handle: gateway.handle,
    upgrade: gateway.upgrade,
    cut: gateway.cut,
    recover: () => recover(deps, awake),
    handOver: gateway.handOver,
    disconnect: gateway.close,
    async close() {
      await awake.close();
      await files.close();
      await pool.close();
    },
  };
}
