import { AppError } from './errors.ts';

/** How much runs and waits: for all together, and for each key (a user, an address, an owner). */
export interface FairBounds {
  /** Runs at once. */
  width: number;
  /** Of one key; all of it unless said. */
  perKey?: number;
  /** Waits for its turn. */
  waiting: number;
  /** Of one key, in each of its lanes. */
  waitingPerKey: number;
  /** Nobody waits longer. */
  waitMs?: number;
}

export interface FairQueue {
  /**
   * 429: the key has too much waiting already. 503: everybody together has, or it took too long. An aborted signal ends
   * the waiting; what runs is for the work itself to end. Lanes of a key share its places and take turns in it, and each
   * has a line of its own: one that is full does not keep the other out.
   */
  run: <T>(key: string, work: () => Promise<T>, signal?: AbortSignal, lane?: string) => Promise<T>;
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
  waits: number;
  /** Those in which something waits, in the order of their turns. */
  lanes: Map<string, Waiter[]>;
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
    if (line.waits > 0 && line.running < perKey) turns.add(key);
    else turns.delete(key);
    if (line.waits === 0 && line.running === 0) lines.delete(key);
  }

  /** The lane whose turn it is goes behind the others. */
  function shift(line: Line): Waiter {
    const [name, lane] = line.lanes.entries().next().value!;
    const next = lane.shift()!;
    line.lanes.delete(name);
    if (lane.length > 0) line.lanes.set(name, lane);
    line.waits -= 1;
    return next;
  }

  function startNext(): void {
    while (running < width && turns.size > 0) {
      const key = turns.values().next().value!;
      const line = lines.get(key)!;
      const next = shift(line);
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
    for (const [name, lane] of line?.lanes ?? []) {
      const at = lane.indexOf(waiter);
      if (!line || at < 0) continue;
      lane.splice(at, 1);
      if (lane.length === 0) line.lanes.delete(name);
      line.waits -= 1;
      waits -= 1;
      settle(key, line);
      return true;
    }
    return false;
  }

  /** False: nobody has more waiting than the one who comes now would have. */
  function makeRoom(own: number): boolean {
    let most: [string, Line] | undefined;
    for (const entry of lines) if (entry[1].waits > (most?.[1].waits ?? own + 1)) most = entry;
    if (!most) return false;
    const [longest] = [...most[1].lanes.values()].toSorted((a, b) => b.length - a.length);
    const last = longest?.at(-1);
    if (!last) return false;
    remove(most[0], last);
    last.refuse(busy());
    return true;
  }

  function wait(key: string, line: Line, signal: AbortSignal | undefined, name: string): Promise<void> {
    const refusal =
      (line.lanes.get(name)?.length ?? 0) >= waitingPerKey
        ? tooMany()
        : waits >= waiting && !makeRoom(line.waits)
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
      const lane = line.lanes.get(name);
      if (lane) lane.push(waiter);
      else line.lanes.set(name, [waiter]);
      line.waits += 1;
      waits += 1;
      settle(key, line);
    });
  }

  return {
    async run(key, work, signal, lane = '') {
      signal?.throwIfAborted();
      let line = lines.get(key);
      if (!line) lines.set(key, (line = { running: 0, waits: 0, lanes: new Map() }));
      if (running < width && line.running < perKey && line.waits === 0) {
        running += 1;
        line.running += 1;
      } else await wait(key, line, signal, lane);
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
      const all = [...lines.values()].flatMap((line) => [...line.lanes.values()].flat());
      for (const line of lines.values()) {
        line.lanes.clear();
        line.waits = 0;
      }
      waits = 0;
      turns.clear();
      for (const waiter of all) waiter.refuse(why);
    },
    size: () => ({ running, waiting: waits }),
  };
}
