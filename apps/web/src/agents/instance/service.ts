import type { Accounts } from '@troupe/accounts';
import { backend as onBackend, type INSTANCE_ACTIONS } from '@troupe/contract';
import type { Database } from '@troupe/db';
import type { AgentRow, Roster } from '@troupe/roster';
import { AppError, isoOrNull, type BackendClient, type User } from '@troupe/kernel';
import { reach } from '../../platform/reach.ts';

export interface InstanceDeps {
  db: Database;
  users: Accounts['users'];
  roster: Roster;
  backend: BackendClient;
  agentsDomain: string;
  version: string;
}

export type InstanceService = ReturnType<typeof createInstances>;
type Action = (typeof INSTANCE_ACTIONS)[number];

const NONE = 'No instance found. Please deploy first.';
/** Backing up and changing an image takes its time. */
const ACTION_TIMEOUT_MS = 120_000;

/** What the backend is asked to do. */
function createActions({ backend }: InstanceDeps) {
  function perform(
    user: User,
    agent: AgentRow,
    action: Action,
    image: unknown,
    address: string,
  ): Promise<{ success: true }> {
    const client = backend.as(user, address);
    const input = { params: { id: agent.id }, timeout: ACTION_TIMEOUT_MS };
    if (action === 'start') return client.call(onBackend.lifecycle.start, input);
    if (action === 'stop') return client.call(onBackend.lifecycle.stop, input);
    if (action === 'restart') return client.call(onBackend.lifecycle.restart, input);
    if (action === 'repair') return client.call(onBackend.lifecycle.repair, input);
    if (action === 'reset-memory') return client.call(onBackend.lifecycle.resetMemory, input);
    // What is wrong with the image, the backend says.
    return client.call(onBackend.lifecycle.updateImage, {
      ...input,
      body: { ...(image !== undefined && { image: image as string }) },
    });
  }

  return perform;
}

export function createInstances(deps: InstanceDeps) {
  const { db, users, roster, backend, agentsDomain, version } = deps;
  /** The agent that the path means: the user's main one, or the one of that id. */
  async function find(user: User, id: string): Promise<AgentRow> {
    if (id === user.id) {
      const [main] = await roster.of(user.id).list({ limit: 1, offset: 0 });
      if (main) return main;
      throw new AppError(404, NONE);
    }
    const agent = await roster.of(user.id).find(id);
    if (agent) return agent;
    const other = await users.byId(db.system, id);
    throw other ? new AppError(403, 'Forbidden') : new AppError(404, NONE);
  }

  const perform = createActions(deps);

  return {
    async act(user: User, id: string, action: Action, image: unknown, address: string) {
      const agent = await find(user, id);
      const done = await reach(perform(user, agent, action, image, address));
      const { status } = await roster.of(user.id).get(agent.id);
      return { ...done, status };
    },
    async read(user: User, id: string) {
      const row = await find(user, id);
      const subdomain = `${row.id}.${agentsDomain}`;
      return {
        userId: user.id,
        agentId: row.id,
        status: row.status,
        startedAt: isoOrNull(row.started_at),
        subdomain,
        url: `https://${subdomain}`,
        plan: row.plan,
        runtimeVersion: row.runtime_version ?? version,
      };
    },
    async stats(user: User, id: string, address: string) {
      const row = await find(user, id);
      const { cpu, memory, plan, runtimeVersion } = await reach(
        backend.as(user, address).call(onBackend.runtime.getStats, { params: { id: row.id } }),
      );
      return { userId: user.id, cpu, memory, status: row.status, plan, runtimeVersion };
    },
  };
}
