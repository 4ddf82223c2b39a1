import type { ModelClient } from '@troupe/ai';
import { memoryScope, type AgentDefinition } from '@troupe/domain';
import { AppError } from '@troupe/kernel';
import { nearOf, type Meant } from './recall.ts';
import type { MemoryStore } from './memory.ts';
import type { Said } from './facts.ts';
import { NoFacts, NotNow, takeFacts, type Taken } from './facts-take.ts';

/** Looking for facts in a conversation, wherever the agent runs. */

/** Memories that the model is shown beside it: those that fit best, and the newest. */
const FITTING = 20;
const NEWEST = 30;
const ASKED_CHARACTERS = 4000;

interface Looking {
  store: Pick<MemoryStore, 'recall'>;
  model: ModelClient;
  meant: Meant;
}

interface Looked {
  definition: AgentDefinition;
  said: readonly Said[];
  tokensToday: number;
  signal: AbortSignal;
}

/** What is remembered that new facts may repeat or contradict. */
async function knownAbout({ store, meant }: Looking, { definition, said }: Looked) {
  const scope = memoryScope(definition);
  const asked = said.flatMap(({ role, text }) => (role === 'user' ? [text] : [])).join('\n');
  const query = asked.slice(-ASKED_CHARACTERS).toWellFormed();
  const fitting = await store.recall({ scope, query, limit: FITTING, near: await nearOf(meant, definition, query) });
  const newest = await store.recall({ scope, limit: NEWEST });
  return [...new Map([...newest, ...fitting].map((memory) => [memory.id, memory])).values()];
}

export async function lookForFacts(looking: Looking, looked: Looked): Promise<Taken> {
  const { definition, said, tokensToday, signal } = looked;
  const { safety, model } = definition.config;
  if (tokensToday >= safety.maxTokensPerDay)
    throw new NotNow(`The limit of ${safety.maxTokensPerDay} tokens a day is reached.`);
  const known = await knownAbout(looking, looked);
  return takeFacts({ model: looking.model, modelName: model.default, signal }, { said, known });
}

/** What the owner is told when facts were written: null, nothing. */
export const roomNote = (left: number): string | null =>
  left === 0
    ? null
    : `The memory is full: there was no room for ${left} ${left === 1 ? 'fact' : 'facts'}. Nothing was forgotten for them.`;

/** What the owner is told of a failure, and whether the same words would come to the same. */
export function failureNote(error: unknown): { note: string; isOver: boolean } {
  const isOver = error instanceof NoFacts;
  const isTold = isOver || error instanceof NotNow || error instanceof AppError;
  const why = isTold ? error.message : 'It did not answer in time.';
  return { note: isOver ? why : `Facts could not be found, and are looked for again later: ${why}`, isOver };
}

/** Whether an agent's owner wants facts, and it has a memory to keep them in. */
export const wantsFacts = ({ config, tools }: AgentDefinition): boolean =>
  config.memory.facts === true && tools.includes('memory');
