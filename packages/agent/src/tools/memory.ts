import { z } from 'zod';
import { memoryScope } from '@troupe/domain';
import { recallAbout, type Meant } from '../store/recall.ts';
import type { Memory, MemoryStore } from '../store/memory.ts';
import { failed, tool, type Tool } from './tool.ts';

const MAX_MEMORY = 100_000;
const SHOWN = 20;
const text = z.string().trim().min(1).max(MAX_MEMORY);

const show = (memories: readonly Memory[]): string =>
  memories.map(({ id, key, content }) => `${id}${key === null ? '' : ` (${key})`}: ${content}`).join('\n') ||
  'Nothing is remembered about that.';

const ARGS = {
  add_memory: z.object({ memory: text }),
  search_memories: z.object({ query: z.string().trim().min(1).max(1000) }),
  get_memories: z.object({}),
  update_memory: z.object({ id: z.string(), memory: text }),
  delete_memory: z.object({ id: z.string() }),
};

export function memoryTools(store: MemoryStore, meant?: Meant): Tool[] {
  const toolset = 'memory';
  return [
    tool({
      name: 'add_memory',
      toolset,
      description: 'Remember a fact for later conversations.',
      args: ARGS.add_memory,
      repeatable: false,
      run: async ({ memory }, { definition }) => {
        const { id } = await store.remember(
          { scope: memoryScope(definition), content: memory },
          definition.config.memory,
        );
        return `Remembered as ${id}.`;
      },
    }),
    tool({
      name: 'search_memories',
      toolset,
      description: 'Find memories about something.',
      args: ARGS.search_memories,
      repeatable: true,
      run: async ({ query }, { definition }) =>
        show(await recallAbout(store, meant, { definition, query, limit: SHOWN })),
    }),
    tool({
      name: 'get_memories',
      toolset,
      description: 'List the newest memories.',
      args: ARGS.get_memories,
      repeatable: true,
      run: async (_, { definition }) => show(await store.recall({ scope: memoryScope(definition), limit: SHOWN })),
    }),
    tool({
      name: 'update_memory',
      toolset,
      description: 'Replace what a memory says.',
      args: ARGS.update_memory,
      repeatable: true,
      run: async ({ id, memory }, { definition }) =>
        (await store.editMemory(id, memory, definition.config.memory))
          ? `Changed ${id}.`
          : failed(`There is no memory ${id}.`),
    }),
    tool({
      name: 'delete_memory',
      toolset,
      description: 'Forget a memory.',
      args: ARGS.delete_memory,
      repeatable: true,
      run: async ({ id }) => ((await store.forget(id)) ? `Forgot ${id}.` : failed(`There is no memory ${id}.`)),
    }),
  ];
}
