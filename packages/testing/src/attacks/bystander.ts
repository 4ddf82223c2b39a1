import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** The slowest of each in milliseconds. */
export interface Slowest {
  health: number;
  chat: number;
  rounds: number;
}

/** Whom to be and where to ask, or that it is enough. */
export type ToBystander = { web: string; agentId: string; headers: Record<string, string> } | { end: true };

export interface Bystander {
  /** The model server that the platform is to ask. */
  provider: string;
  /** Asks for health and chats, again and again, until the work has ended. Fails when one of them is refused. */
  during: (who: Extract<ToBystander, { web: string }>, work: () => Promise<unknown>) => Promise<Slowest>;
  leave: () => Promise<void>;
}

/** In a thread of its own, with a model server of its own; `director` answers everybody else. */
export async function startBystander(director: string): Promise<Bystander> {
  const thread = new Worker(new URL('bystander.inside.ts', import.meta.url), { workerData: { director } });
  const [{ url }] = (await once(thread, 'message')) as [{ url: string }];
  const watched = async (): Promise<Slowest> => {
    const [told] = (await once(thread, 'message')) as [{ slowest: Slowest } | { failed: string }];
    if ('slowest' in told) return told.slowest;
    throw new assert.AssertionError({ message: told.failed });
  };
  return {
    provider: url,
    async during(who, work) {
      const probing = watched();
      probing.catch(() => undefined);
      thread.postMessage(who);
      try {
        await Promise.race([work(), probing]);
      } finally {
        thread.postMessage({ end: true });
      }
      return probing;
    },
    leave: async () => void (await thread.terminate()),
  };
}
