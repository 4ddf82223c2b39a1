import { AppError } from '@troupe/kernel';
import { z } from 'zod';
import { KEPT_BY_PLATFORM } from '@troupe/contract';
import { definitionSchema, memoryScope } from '@troupe/domain';
import type { Kept } from '../agent.ts';
import { pages, readInTurn } from '../session/reading.ts';
import type { FactStore } from '../store/facts.ts';
import type { LogLevelName } from '../store/store.ts';
import { readJson, sendJson, whole, type Exchange } from './exchange.ts';

/** What the agent has kept: log, messages, figures, memory. A driver whose agents live elsewhere reads them here. */

const LEVELS: readonly string[] = ['debug', 'info', 'warn', 'error'];
const MAX_MEMORY = 102_400;

export async function readLogs(exchange: Exchange<Kept>): Promise<void> {
  const { query, agent } = exchange;
  const level = query.get('level') ?? undefined;
  if (level !== undefined && !LEVELS.includes(level))
    throw new AppError(400, `level must be one of ${LEVELS.join(', ')}`);
  const after = query.get('after') ?? undefined;
  const limit = whole(query, 'limit', 50, 100);
  const found = await agent.store.logs({
    limit,
    ...(level !== undefined && { level: level as LogLevelName }),
    ...(after !== undefined && /^\d{1,18}$/.test(after) && { after }),
  });
  sendJson(exchange, { ...found, limit });
}

export async function readMessages(exchange: Exchange<Kept>): Promise<void> {
  const page = { limit: whole(exchange.query, 'limit', 50, 100), offset: whole(exchange.query, 'offset', 0, 1e6) };
  const read = async () => {
    const { messages, total } = await exchange.agent.store.messages(page);
    const hasMore = page.offset + messages.length < total;
    return { value: undefined, bytes: sendJson(exchange, { messages, total, ...page, hasMore }) };
  };
  await readInTurn(pages, exchange.agent.owner, read, exchange.signal);
}

export async function readStats(exchange: Exchange<Kept>): Promise<void> {
  sendJson(exchange, { stats: await exchange.agent.store.stats(new Date()), busy: exchange.agent.busy() });
}

export async function readMemory(exchange: Exchange<Kept>): Promise<void> {
  const { agent, query } = exchange;
  const scope = memoryScope((await agent.definition()).definition);
  const offset = whole(query, 'offset', 0, 1e6);
  const memories = await agent.store.recall({ scope, limit: whole(query, 'limit', 100, 1000), offset });
  const rest = await agent.store.recall({ scope, limit: 1, offset: offset + memories.length });
  sendJson(exchange, { memories, count: memories.length, hasMore: rest.length > 0 });
}

const memorySchema = z.object(
  {
    key: z.string('key required').min(1, 'key required').max(500),
    content: z.string('content required').max(MAX_MEMORY, 'Memory value too large (max 100KB)'),
  },
  'Invalid request body',
);

/** What was kept without a key goes by its id. */
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export async function writeMemory(exchange: Exchange): Promise<void> {
  const { key, content } = await readJson(exchange, memorySchema);
  const { definition } = await exchange.agent.definition();
  const { store } = exchange.agent;
  const bounds = definition.config.memory;
  const changed = ID.test(key) ? await store.editMemory(key, content, bounds) : undefined;
  const memory = changed ?? (await store.remember({ scope: memoryScope(definition), key, content }, bounds));
  sendJson(exchange, { memory });
}

export async function forgetMemory(exchange: Exchange): Promise<void> {
  const gone = await exchange.agent.store.forget(exchange.params[0] ?? '');
  if (!gone) throw new AppError(404, 'Memory not found');
  sendJson(exchange, { success: true });
}

/** How the memory stands, and the facts in it. Those of agents that run in the platform are the platform's to tell. */
function factsOf({ agent }: Exchange<Kept>): FactStore {
  if (!agent.store.facts) throw new AppError(409, KEPT_BY_PLATFORM);
  return agent.store.facts;
}

export async function readMemoryCare(exchange: Exchange<Kept>): Promise<void> {
  const { definition } = await exchange.agent.definition();
  const model = definition.config.memory.embeddings ?? null;
  sendJson(exchange, await factsOf(exchange).state(memoryScope(definition), model));
}

const keepSchema = z.object({ keep: z.enum(['this', 'others', 'all'], 'keep must be this, others or all') });

export async function decideFact(exchange: Exchange): Promise<void> {
  const { keep } = await readJson(exchange, keepSchema);
  const { definition } = await exchange.agent.definition();
  const isThere = await factsOf(exchange).decide(memoryScope(definition), exchange.params[0] ?? '', keep);
  if (!isThere) throw new AppError(404, 'Fact not found');
  sendJson(exchange, { success: true });
}

export async function resetMemory(exchange: Exchange): Promise<void> {
  await exchange.agent.store.reset();
  sendJson(exchange, { success: true, message: 'Memory reset successfully' });
}

export async function readDefinition(exchange: Exchange<Kept>): Promise<void> {
  sendJson(exchange, await exchange.agent.definition());
}

export async function changeDefinition(exchange: Exchange): Promise<void> {
  const definition = await readJson(exchange, definitionSchema);
  sendJson(exchange, { version: await exchange.agent.store.saveDefinition(definition) });
}

export async function heartbeat(exchange: Exchange): Promise<void> {
  const answer = await exchange.agent.heartbeat();
  sendJson(exchange, { success: true, worked: answer !== undefined, ...(answer && { outcome: answer.outcome }) });
}
