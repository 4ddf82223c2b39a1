import { createPgStore } from '@troupe/agent';
import { useTeamStore, type TeamStoreCall } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { AppError, serve, type Server } from '@troupe/kernel';
import type { Roster } from '@troupe/roster';
import { actingFor, visibleTo } from '../../context.ts';

/** Members in containers keep what they share here, in the rows that members in this process use. */
export function teamStoreRoutes(server: Server, { db, roster }: { db: Database; roster: Roster }): void {
  const scope = 'team';
  async function storeOf(agentId: unknown, userId: string | undefined) {
    const agent = typeof agentId === 'string' ? await visibleTo(roster, userId).find(agentId) : undefined;
    if (!agent?.team_id) throw new AppError(404, 'Agent not found');
    return createPgStore({ db, userId: agent.user_id, agentId: agent.id, teamId: agent.team_id });
  }

  async function perform(store: Awaited<ReturnType<typeof storeOf>>, call: TeamStoreCall): Promise<unknown> {
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

  serve(server, useTeamStore, async ({ user, request, body }) => {
    const store = await storeOf(request.headers['x-agent-id'], user?.id ?? actingFor(request));
    return { result: (await perform(store, body)) ?? null };
  });
}
