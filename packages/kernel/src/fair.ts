import { AppError } from './errors.ts';

/** How much runs and waits: for all together, and for each key (a user, an address, an owner). */
export interface FairBounds {
  /** Runs at once. */
  width: number;
  /** Of one key; all of it unless said. */
  perKey?: number;
  /** Waits for its turn. */
  waiting: number;
  /** Of one key. */
  waitingPerKey: number;
  /** Nobody waits longer. */
  waitMs?: number;
}

export interface FairQueue {
  /**
   * 429: the key has too much waiting already. 503: everybody together has, or it took too long. An aborted signal ends
   * the waiting; what runs is for the work itself to end.
   */
  run: <T>(key: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;
  /** Refuses all that waits. */
  drain: (why: Error) => void;
  /** What runs and what waits now. */
  size: () => { running: number; waiting: number };
}

interface Waiter {
  start: () => void;
  refuse: (error: Error) => void;
}

interface Line {
  running: number;
  waiting: Waiter[];
}

const RETRY = { headers: { 'retry-after': '2' } };
const tooMany = () => new AppError(429, 'Too many requests are waiting already. Try again in a moment.', {}, RETRY);
const busy = () => new AppError(503, 'The service is busy. Try again in a moment.', {}, RETRY);

/**
 * The one way in which this process shares something between users: keys take turns, so whoever comes with one thing
 * waits for at most one of each other key, however much these have waiting. When all places are taken, the newest of the
 * key with the most gives way to a key with less.
 */
export function createFairQueue({ width, perKey = width, waiting, waitingPerKey, waitMs }: FairBounds): FairQueue {
  const lines = new Map<string, Line>();
  /** Keys that wait and may run, in the order of their turns. */
  const turns = new Set<string>();
  let running = 0;
  let waits = 0;

  /** After a change of the line. A key that has a turn keeps its place. */
  function settle(key: string, line: Line): void {
    if (line.waiting.length > 0 && line.running < perKey) turns.add(key);
    else turns.delete(key);
    if (line.waiting.length === 0 && line.running === 0) lines.delete(key);
  }

  function startNext(): void {
    while (running < width && turns.size > 0) {
      const key = turns.values().next().value!;
      const line = lines.get(key)!;
      const next = line.waiting.shift()!;
      waits -= 1;
      running += 1;
      line.running += 1;
      turns.delete(key);
      settle(key, line);
      next.start();
    }
  }

  function remove(key: string, waiter: Waiter): boolean {
    const line = lines.get(key);
    const at = line?.waiting.indexOf(waiter) ?? -1;
    if (!line || at < 0) return false;
    line.waiting.splice(at, 1);
    waits -= 1;
    settle(key, line);
    return true;
  }

  /** False: nobody has more waiting than the one who comes now would have. */
  function makeRoom(own: number): boolean {
    let most: [string, Line] | undefined;
    for (const entry of lines) if (entry[1].waiting.length > (most?.[1].waiting.length ?? own + 1)) most = entry;
    const last = most?.[1].waiting.at(-1);
    if (!most || !last) return false;
    remove(most[0], last);
    last.refuse(busy());
    return true;
  }

  function wait(key: string, line: Line, signal: AbortSignal | undefined): Promise<void> {
    const refusal =
      line.waiting.length >= waitingPerKey
        ? tooMany()
        : waits >= waiting && !makeRoom(line.waiting.length)
          ? busy()
          : undefined;
    if (refusal) {
      settle(key, line);
      throw refusal;
    }
    return new Promise<void>((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const giveUp = (): void => void (remove(key, waiter) && waiter.refuse(signal?.reason as Error));
      const settled = (then: () => void): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
        then();
      };
      const waiter: Waiter = { start: () => settled(resolve), refuse: (error) => settled(() => reject(error)) };
      if (waitMs !== undefined) timer = setTimeout(() => remove(key, waiter) && waiter.refuse(busy()), waitMs);
      signal?.addEventListener('abort', giveUp, { once: true });
      line.waiting.push(waiter);
      waits += 1;
      settle(key, line);
    });
  }

  return {
    async run(key, work, signal) {
      signal?.throwIfAborted();
      let line = lines.get(key);
      if (!line) lines.set(key, (line = { running: 0, waiting: [] }));
      if (running < width && line.running < perKey && line.waiting.length === 0) {
        running += 1;
        line.running += 1;
      } else await wait(key, line, signal);
      try {
        return await work();
      } finally {
        running -= 1;
        line.running -= 1;
        settle(key, line);
        startNext();
      }
    },
    drain(why) {
      const all = [...lines.values()].flatMap((line) => line.waiting.splice(0));
      waits = 0;
      turns.clear();
      for (const waiter of all) waiter.refuse(why);
    },
    size: () => ({ running, waiting: waits }),
  };
}
