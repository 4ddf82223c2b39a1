import {
  backend as onBackend,
  embedMemoriesJob,
  gateway,
  MEMORY_LIMITS,
  type TypesOf,
  type web,
} from '@troupe/contract';
import type { Database, Jobs } from '@troupe/db';
import { memoryScope, type AgentDefinition } from '@troupe/domain';
import type { AgentRow, Roster } from '@troupe/roster';
import { AppError, type BackendClient, type User } from '@troupe/kernel';
import { reach } from '../../platform/reach.ts';
import * as store from './store.ts';

export interface MemoryDeps {
  db: Database;
  jobs: Jobs;
  roster: Roster;
  backend: BackendClient;
}

export type MemoryService = ReturnType<typeof createMemory>;

const MOST_READ = 1000;

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const MOST_FACTS = 100;
const NOT_RUNNING = 'The agent keeps its memory itself, and is not running now.';

const scopeOf = ({ id, team_id: teamId }: AgentRow, definition: AgentDefinition): string =>
  memoryScope(definition) === 'team' && teamId !== null ? `team:${teamId}` : `agent:${id}`;

type Change = TypesOf<typeof web.memory.setCare>['body'];
type Kept = TypesOf<typeof web.memory.decideFact>['body']['keep'];

/** As the agent tells it; one that does not run tells nothing. */
async function asked(backend: BackendClient, user: User, agentId: string, address: string) {
  try {
    return await reach(backend.as(user, address).call(gateway.memory.care, { params: { agentId } }));
  } catch (error) {
    if (!(error instanceof AppError) || error.status < 500) throw error;
    return { memories: 0, embedded: 0, meaningNote: null, factsNote: NOT_RUNNING, found: [] };
  }
}

/** How a memory is searched and filled, and what its owner decides about facts. */
function caring({ db, jobs, roster, backend }: MemoryDeps) {
  jobs.define(embedMemoriesJob);
  async function held(user: User, id: string) {
    const own = roster.of(user.id);
    const agent = await own.get(id);
    const definition = await own.definition(agent);
    return { memory: definition.config.memory, scope: scopeOf(agent, definition) };
  }

  async function care(user: User, id: string, address: string) {
    const { memory, scope } = await held(user, id);
    const embeddings = memory.embeddings ?? null;
    const own = db.user(user.id);
    const { elsewhere, ...row } = await store.readCare(own, { agentId: id, scope, model: embeddings });
    const chosen = { embeddings, facts: memory.facts ?? false };
    if (elsewhere) return { ...(await asked(backend, user, id, address)), ...chosen };
    return { ...row, ...chosen, found: await store.listFacts(own, scope, MOST_FACTS) };
  }

  return {
    care,
    async setCare(user: User, id: string, memory: Change, force: boolean, address: string) {
      await roster.of(user.id).get(id);
      const body = { config: { memory }, force };
      await reach(backend.as(user, address).call(onBackend.agents.update, { params: { id }, body }));
      const { embeddings } = memory;
      if (embeddings !== undefined) {
        const { scope } = await held(user, id);
        await db.asUser(user.id, async (tx) => {
          await store.chosenAnew(tx, scope, embeddings);
          const job = { userId: user.id, agentId: id };
          await jobs.send(tx, embedMemoriesJob, job, { owner: user.id, about: id });
        });
      }
      return care(user, id, address);
    },
    async decideFact(user: User, { id, factId }: { id: string; factId: string }, keep: Kept, address: string) {
      const { scope } = await held(user, id);
      const { elsewhere } = await store.readCare(db.user(user.id), { agentId: id, scope, model: null });
      if (elsewhere) {
        const given = { params: { agentId: id, factId }, body: { keep } };
        await reach(backend.as(user, address).call(gateway.memory.decideFact, given));
        return care(user, id, address);
      }
      await db.asUser(user.id, async (tx) => {
        const [fact] = await store.listFacts(tx, scope, 1, factId);
        if (!fact) throw new AppError(404, 'Fact not found');
        const others = fact.contradicts.map((one) => one.id);
        if (keep !== 'all') await store.forgetAll(tx, scope, keep === 'this' ? others : [factId]);
        await store.settle(tx, scope, factId);
      });
      return care(user, id, address);
    },
  };
}

/** The memory that the agent itself reads and writes, as keys and values. What it keeps without a key goes by its id. */
export function createMemory(deps: MemoryDeps) {
  const { roster, backend } = deps;
  function entries(key: string | undefined, memory: unknown): [string, string][] {
    if (memory === undefined || memory === null) throw new AppError(400, 'memory required');
    const isMany = key === undefined;
    if (isMany && (typeof memory !== 'object' || Array.isArray(memory)))
      throw new AppError(400, 'memory must be an object of keys and values, unless key is given');
    const given = isMany ? Object.entries(memory as object) : [[key, memory] as const];
    if (given.length > MEMORY_LIMITS.keys) throw new AppError(400, MEMORY_LIMITS.tooMany);
    const texts = given.map(([name, value]): [string, string] => [name, asText(value)]);
    if (texts.some(([, text]) => Buffer.byteLength(text) > MEMORY_LIMITS.bytes))
      throw new AppError(400, MEMORY_LIMITS.tooLarge);
    return texts;
  }

  return {
    ...caring(deps),
    async read(user: User, { agentId, offset }: { agentId: string; offset: number }, address: string) {
      await roster.of(user.id).get(agentId);
      const { memories, hasMore = false } = await reach(
        backend
          .as(user, address)
          .call(gateway.memory.get, { params: { agentId }, query: { limit: MOST_READ, offset } }),
      );
      const memory = Object.fromEntries(memories.map((one) => [one.key ?? String(one['id']), one.content]));
      const unnamed = memories.filter(({ key }) => key === null).map((one) => String(one['id']));
      const lastUpdated = memories[0]?.updatedAt ?? null;
      return { memory, unnamed, agentId, count: memories.length, lastUpdated, hasMore };
    },

    async write(user: User, given: { agentId: string; key?: string; memory?: unknown }, address: string) {
      const { agentId, key } = given;
      const texts = entries(key, given.memory);
      await roster.of(user.id).get(agentId);
      const client = backend.as(user, address);
      for (const [name, content] of texts)
        await reach(client.call(gateway.memory.put, { params: { agentId }, body: { key: name, content } }));
      const saved = { success: true as const, agentId, saved: true as const };
      return key === undefined ? { ...saved, keysUpdated: texts.map(([name]) => name) } : { ...saved, key };
    },
  };
}
