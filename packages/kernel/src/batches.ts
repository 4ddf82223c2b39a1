/**
 * What comes in with one turn of the event loop goes out together: many at once cost one round trip, and nobody waits for
 * company. Unless they may overlap, batches go one after the other, and what comes in meanwhile is kept.
 */
export interface BatchOptions<In> {
  /** Things of one key go out one after the other. */
  keyOf?: (given: In) => string;
  /** A failure that left nothing done, and that may be the fault of one of them: each is tried by itself. */
  mayPart?: (error: unknown) => boolean;
  atMost?: number;
  /** A batch does not wait for the one before. */
  overlap?: boolean;
}

export function inBatches<In, Out>(
  perform: (given: In[]) => Promise<Out[]>,
  { keyOf, mayPart = () => false, atMost = 50, overlap = false }: BatchOptions<In>,
): (given: In) => Promise<Out> {
  interface Waiting {
    given: In;
    resolve: (out: Out) => void;
    reject: (error: unknown) => void;
  }
  let waiting: Waiting[] = [];
  let pumping = false;

  function take(): Waiting[] {
    if (!keyOf) return waiting.splice(0, atMost);
    const keys = new Set<string>();
    const taken: Waiting[] = [];
    const left: Waiting[] = [];
    for (const one of waiting) {
      const key = keyOf(one.given);
      const fits = taken.length < atMost && !keys.has(key);
      keys.add(key);
      (fits ? taken : left).push(one);
    }
    waiting = left;
    return taken;
  }

  async function settle(batch: Waiting[]): Promise<void> {
    try {
      const outs = await perform(batch.map(({ given }) => given));
      batch.forEach(({ resolve }, index) => resolve(outs[index] as Out));
    } catch (error) {
      if (batch.length === 1 || !mayPart(error)) return batch.forEach(({ reject }) => reject(error));
      for (const one of batch) await settle([one]);
    }
  }

  async function pump(): Promise<void> {
    pumping = true;
    while (waiting.length > 0) {
      // What has come in with the same turn of the event loop goes too.
      await new Promise(setImmediate);
      const done = settle(take());
      if (!overlap) await done;
    }
    pumping = false;
  }

  return (given) =>
    new Promise((resolve, reject) => {
      waiting.push({ given, resolve, reject });
      if (!pumping) void pump();
    });
}
