import { memoryScope, type AgentDefinition } from '@troupe/domain';
import { MOST_CHARACTERS } from './meaning.ts';
import type { Memory, MemoryStore, Near } from './memory.ts';

/** A question as the numbers that a model makes of it; undefined: not now. */
export type Meant = (model: string, question: string) => Promise<Float32Array | undefined>;

/** The numbers of a question, where the agent's owner has chosen a model. */
export async function nearOf(
  meant: Meant | undefined,
  { config }: AgentDefinition,
  query: string,
): Promise<Near | undefined> {
  const model = config.memory.embeddings ?? undefined;
  if (meant === undefined || model === undefined) return undefined;
  const vector = await meant(model, query.slice(0, MOST_CHARACTERS).toWellFormed());
  return vector && { model, vector };
}

/** What an agent remembers about a question: by words, and by meaning where that is chosen. */
export async function recallAbout(
  store: Pick<MemoryStore, 'recall'>,
  meant: Meant | undefined,
  { definition, query, limit }: { definition: AgentDefinition; query: string; limit: number },
): Promise<Memory[]> {
  const near = await nearOf(meant, definition, query);
  return store.recall({ scope: memoryScope(definition), query, limit, near });
}

/** Each step of a run has the same question: it is asked for once. */
export function keptMeant(meant: Meant): Meant {
  let last: { key: string; vector: Promise<Float32Array | undefined> } | undefined;
  return async (model, question) => {
    const key = `${model}\n${question}`;
    if (last?.key !== key) last = { key, vector: meant(model, question) };
    const asked = last;
    const vector = await asked.vector;
    // One that failed is asked for anew.
    if (!vector && last === asked) last = undefined;
    return vector;
  };
}
