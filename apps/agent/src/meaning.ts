import { embedBy, keptMeant, tendMeanings, type AgentStore, type Meant } from '@troupe/agent';
import type { Ai } from '@troupe/ai';
import { memoryScope } from '@troupe/domain';
import type { Log } from '@troupe/kernel';
import { repeated, type Repeated } from './repeated.ts';

/** Memories of an agent that is a program of its own as numbers. The platform makes them, on its owner's account. */

/** Whoever asks waits for it: then the words alone have to do. */
const QUESTION_MS = 4_000;
const EVERY_MS = 30_000;
const CALLS = 16;

interface MeaningDeps {
  store: AgentStore;
  ai: Pick<Ai, 'embed'>;
  log: Log;
  everyMs?: number;
  onTurn?: () => void;
}

export interface MemoryMeaning extends Repeated {
  of: Meant;
}

export function createMeaning({ store, ai, log, everyMs = EVERY_MS, onTurn }: MeaningDeps): MemoryMeaning {
  const embed = embedBy(ai);
  const turn = async (signal: AbortSignal): Promise<void> => {
    const { definition } = (await store.definition()) ?? {};
    if (!definition) return;
    const model = definition.config.memory.embeddings ?? null;
    await tendMeanings({ store, embed }, { scope: memoryScope(definition), model, calls: CALLS, signal });
  };
  return {
    ...repeated(turn, { everyMs, log, onTurn, failed: 'memories could not become numbers' }),
    of: keptMeant(async (model, question) => {
      try {
        return (await embed(model, [question], AbortSignal.timeout(QUESTION_MS)))[0];
      } catch (error) {
        log.warn({ err: error, model }, 'a question was searched by words alone');
        return undefined;
      }
    }),
  };
}
