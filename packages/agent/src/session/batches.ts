/**
 * While one write is on its way, what comes in is kept and goes out together after it: many at once cost one write, and
 * nobody waits for company. Things of one key go out one after the other.
 */
export function inBatches<In, Out>(
  write: (given: In[]) => Promise<Out[]>,
  {
    keyOf,
    mayPart,
    atMost = 50,
  }: {
    keyOf: (given: In) => string;
    /** A failure that left nothing stored, and that may be the fault of one of them: each is tried by itself. */
    mayPart: (error: unknown) => boolean;
    atMost?: number;
  },
): (given: In) => Promise<Out> {
  interface Waiting {
    given: In;
    resolve: (out: Out) => void;
    reject: (error: unknown) => void;
  }
  let waiting: Waiting[] = [];
  let writing = false;

  function take(): Waiting[] {
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
      const outs = await write(batch.map(({ given }) => given));
      batch.forEach(({ resolve }, index) => resolve(outs[index] as Out));
    } catch (error) {
      if (batch.length === 1 || !mayPart(error)) return batch.forEach(({ reject }) => reject(error));
      for (const one of batch) await settle([one]);
    }
  }

  async function pump(): Promise<void> {
    writing = true;
    while (waiting.length > 0) {
      // What has come in with the same turn of the event loop goes too.
      await new Promise(setImmediate);
      await settle(take());
    }
    writing = false;
  }

  return (given) =>
    new Promise((resolve, reject) => {
      waiting.push({ given, resolve, reject });
      if (!writing) void pump();
    });
}
