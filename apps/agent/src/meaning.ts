import { embedBy, keptMeant, tendMeanings, type AgentStore, type Meant } from '@troupe/agent';
import type { Ai } from '@troupe/ai';
import { memoryScope } from '@troupe/domain';
import type { Log } from '@troupe/kernel';

/** Memories of an agent that is a program of its own as numbers. The platform makes them, on its owner's account. */

/** Whoever asks waits for it: then the words alone have to do. */
const QUESTION_MS = 4_000;
const EVERY_MS = 30_000;
/** After a failure, twice as long each time. */
const MOST_MS = 3_600_000;
const CALLS = 16;

interface MeaningDeps {
  store: AgentStore;
  ai: Pick<Ai, 'embed'>;
  log: Log;
  everyMs?: number;
}

export interface MemoryMeaning {
  of: Meant;
  close: () => Promise<void>;
}

export function createMeaning({ store, ai, log, everyMs = EVERY_MS }: MeaningDeps): MemoryMeaning {
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  const embed = embedBy(ai);

  async function turn(): Promise<void> {
    const { definition } = (await store.definition()) ?? {};
    if (!definition) return;
    const model = definition.config.memory.embeddings ?? null;
    const wanted = { scope: memoryScope(definition), model, calls: CALLS, signal: ending.signal };
    await tendMeanings({ store, embed }, wanted);
    failures = 0;
  }

  function next(): void {
    if (ending.signal.aborted) return;
    timer = setTimeout(() => void (under = go()), Math.min(MOST_MS, everyMs * 2 ** failures)).unref();
  }

  async function go(): Promise<void> {
    await turn().catch((err: unknown) => {
      failures += 1;
      if (!ending.signal.aborted) log.warn({ err }, 'memories could not become numbers');
    });
    next();
  }

  let under: Promise<void> | undefined;
  next();
  return {
    of: keptMeant(async (model, question) => {
      try {
        return (await embed(model, [question], AbortSignal.timeout(QUESTION_MS)))[0];
      } catch (error) {
        log.warn({ err: error, model }, 'a question was searched by words alone');
        return undefined;
      }
    }),
    async close() {
      ending.abort();
      clearTimeout(timer);
      await under;
    },
  };
}
