import { pgKnowledge } from '@troupe/agent';
import type { Database } from '@troupe/db';
import { createPassageSearch } from '@troupe/knowledge';
import { AppError } from '@troupe/kernel';
import type { Roster } from '@troupe/roster';
import { visibleTo } from '../../context.ts';
import type { Meanings } from './meaning.ts';

export type Knowledge = ReturnType<typeof createKnowledge>;

interface KnowledgeDeps {
  db: Database;
  roster: Roster;
  dashboard: string;
  meanings: Meanings;
}

/** Documents for agents that run as programs of their own: of the collections that the agent was given, and no others. */
export function createKnowledge({ db, roster, dashboard, meanings }: KnowledgeDeps) {
  const search = createPassageSearch();
  async function of(agentId: unknown, userId: string | undefined) {
    const visible = visibleTo(roster, userId);
    const agent = typeof agentId === 'string' ? await visible.find(agentId) : undefined;
    if (!agent) throw new AppError(404, 'Agent not found');
    const { knowledge = [] } = await visible.definition(agent);
    return {
      source: pgKnowledge({ db, userId: agent.user_id, search, meaning: meanings.of(agent.user_id), dashboard }),
      collections: knowledge.map(({ id }) => id),
    };
  }

  return {
    async find(
      userId: string | undefined,
      { collections, query, limit }: { collections: readonly string[]; query: string; limit: number },
    ) {
      if (userId === undefined) throw new AppError(400, 'User required');
      return { passages: await search(db.user(userId), collections, query, limit, meanings.of(userId)) };
    },
    async search(agentId: unknown, userId: string | undefined, { query, limit }: { query: string; limit: number }) {
      const { source, collections } = await of(agentId, userId);
      return { passages: await source.search(query, limit, collections) };
    },
    async read(
      agentId: unknown,
      userId: string | undefined,
      wanted: { document: string; index: number; around: number },
    ) {
      const { source, collections } = await of(agentId, userId);
      const passages = await source.read(wanted, collections);
      if (!passages) throw new AppError(404, 'Passage not found');
      return { passages };
    },
  };
}
