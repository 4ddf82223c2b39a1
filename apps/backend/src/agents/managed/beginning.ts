import type { backend, TypesOf } from '@troupe/contract';
import { AppError, newId, type RequestInfo } from '@troupe/kernel';
import { storesIn, type Into } from './resources.ts';
import type { Inner, SessionDeps } from './session.ts';
import * as store from './store.ts';

/** How a session begins: with files in its agent's workspace, and with vaults that open its agent's servers. */

type Create = TypesOf<typeof backend.managed.createSession>['body'];
type Request = Pick<RequestInfo, 'holds'>;
/** Of a session that a deployment begins: asked for again, it is the same. */
interface Begun {
  id: string;
  deploymentId: string;
}

function createAdd({ db, clock, vaults, stores }: SessionDeps) {
  return async function add(userId: string, body: Create, agentId: string, begun?: Begun): Promise<store.SessionRow> {
    const at = clock();
    const ids = body.vault_ids ?? [];
    const row = {
      id: begun?.id ?? `sesn_${newId()}`,
      user_id: userId,
      agent_id: agentId,
      environment_id: body.environment_id,
      title: body.title ?? null,
      conversation: null,
      deployment_id: begun?.deploymentId ?? null,
      archived_at: null,
      created_at: at,
      updated_at: at,
    };
    const kept = {
      ...row,
      metadata: JSON.stringify(body.metadata ?? {}),
      vault_ids: ids.length > 0 ? JSON.stringify(ids) : null,
    };
    await db.asUser(userId, async (tx) => {
      await vaults.checkOthers(tx, agentId, ids);
      await store.addSession(tx, kept);
      await stores.give(tx, userId, row.id, storesIn(body.resources ?? []));
    });
    return { ...row, metadata: body.metadata ?? {}, vault_ids: ids };
  };
}

export function beginning(deps: SessionDeps, { shown, place }: Inner) {
  const { db, managed, resources, vaults } = deps;
  const add = createAdd(deps);

  /** What it is given on its way; nothing of it is left where something is refused. */
  async function equip(into: Into, { vault_ids: ids, resources: given }: Create, request: Request): Promise<void> {
    const put: string[] = [];
    try {
      for (const one of given ?? []) if (one.type === 'file') put.push((await resources.add(into, one, request)).id);
      await vaults.open(into, into.client, ids ?? []);
    } catch (error) {
      for (const id of put) await resources.remove(into, id).catch(() => undefined);
      await store.remove(db, into.userId, 'managed_sessions', into.sessionId);
      throw error;
    }
  }

  return {
    async create(userId: string, body: Create, request: Request, begun?: Begun) {
      const { agent } = body;
      const { id: agentId, archived_at } = await managed.getAgent(
        userId,
        typeof agent === 'string' ? agent : agent.id,
        undefined,
      );
      if (archived_at !== null) throw new AppError(400, 'The agent is archived', {}, { code: 'agent_archived_error' });
      const environment = await managed.getEnvironment(userId, body.environment_id);
      if (environment.archived_at !== null)
        throw new AppError(400, 'The environment is archived', {}, { code: 'environment_archived_error' });
      await resources.check(userId, body.resources ?? []);
      await vaults.checkVaults(userId, body.vault_ids ?? []);
      const row = await add(userId, body, agentId, begun);
      const { client } = await place(userId, row.id);
      await equip({ userId, agentId, sessionId: row.id, client }, body, request);
      return shown(userId, row, { status: 'idle' });
    },
  };
}
