import { createPgStore, nearOf, type Meant, type Near } from '@troupe/agent';
import type { TeamStoreCall } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { AppError } from '@troupe/kernel';
import type { AgentRow, Roster } from '@troupe/roster';
import { visibleTo } from '../../context.ts';

const scope = 'team';
type Store = ReturnType<typeof createPgStore>;

async function perform(store: Store, call: TeamStoreCall, near: Near | undefined): Promise<unknown> {
  switch (call.op) {
    case 'remember':
      return store.remember(
        { scope, content: call.content, ...(call.key !== undefined && { key: call.key }) },
        call.bounds,
      );
    case 'recall':
      return store.recall({
        scope,
        limit: call.limit,
        near,
        ...(call.query !== undefined && { query: call.query }),
        ...(call.offset !== undefined && { offset: call.offset }),
      });
    case 'editMemory':
      return store.editMemory(call.id, call.content, call.bounds);
    case 'forget':
      return store.forget(call.id);
    case 'todos':
      return store.todos(scope);
    case 'addTodos':
      return store.addTodos(scope, call.descriptions);
    case 'setTodo':
      return store.setTodo(scope, call.id, call.status);
  }
}

interface SharedDeps {
  db: Database;
  roster: Roster;
  meanings: { of: (userId: string) => { vector: Meant } };
}

export type SharedStores = ReturnType<typeof createSharedStores>;

/** Members in containers keep what they share here, in the rows that members in this process use. */
export function createSharedStores({ db, roster, meanings }: SharedDeps) {
  /** A question as numbers, where the member's owner has chosen a model. */
  async function near(agent: AgentRow, call: TeamStoreCall): Promise<Near | undefined> {
    if (call.op !== 'recall' || call.query === undefined) return undefined;
    return nearOf(meanings.of(agent.user_id).vector, await roster.system.definition(agent), call.query);
  }
  return {
    async use(agentId: unknown, userId: string | undefined, call: TeamStoreCall): Promise<unknown> {
      const agent = typeof agentId === 'string' ? await visibleTo(roster, userId).find(agentId) : undefined;
      if (!agent?.team_id) throw new AppError(404, 'Agent not found');
      const store = createPgStore({ db, userId: agent.user_id, agentId: agent.id, teamId: agent.team_id });
      return (await perform(store, call, await near(agent, call))) ?? null;
    },
  };
}
