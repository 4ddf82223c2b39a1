import { gateway, MEMORY_LIMITS } from '@troupe/contract';
import type { Roster } from '@troupe/roster';
import { AppError, type BackendClient, type User } from '@troupe/kernel';
import { reach } from '../../platform/reach.ts';

export interface MemoryDeps {
  roster: Roster;
  backend: BackendClient;
}

export type MemoryService = ReturnType<typeof createMemory>;

const MOST_READ = 1000;

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** The memory that the agent itself reads and writes, as keys and values. What it keeps without a key goes by its id. */
export function createMemory({ roster, backend }: MemoryDeps) {
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
    async read(user: User, { agentId, offset }: { agentId: string; offset: number }, address: string) {
      await roster.of(user.id).get(agentId);
      const { memories, hasMore = false } = await reach(
        backend
          .as(user, address)
          .call(gateway.memory.get, { params: { agentId }, query: { limit: MOST_READ, offset } }),
      );
      const memory = Object.fromEntries(memories.map((one) => [one.key ?? String(one['id']), one.content]));
      return { memory, agentId, count: memories.length, lastUpdated: memories[0]?.updatedAt ?? null, hasMore };
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
