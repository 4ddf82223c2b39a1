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
   * has a line of its own: one that is full does not keep the other out. `leave` gives the place to other keys before the
   * work has ended; to its own key it still counts.
   */
  run: <T>(key: string, work: (leave: () => void) => Promise<T>, signal?: AbortSignal, lane?: string) => Promise<T>;
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
/** Nobody did anything wrong: there is too much to do at the moment. */
export const busy = () => new AppError(503, 'The service is busy. Try again in a moment.', {}, RETRY);

/** The lane whose turn it is goes behind the others. */
function shift(line: Line): Waiter {
  const [name, lane] = line.lanes.entries().next().value!;
  const next = lane.shift()!;
  line.lanes.delete(name);
  if (lane.length > 0) line.lanes.set(name, lane);
  line.waits -= 1;
  return next;
}

class TurnQueue implements FairQueue {
  readonly #width: number;
  readonly #perKey: number;
  readonly #waiting: number;
  readonly #waitingPerKey: number;
  readonly #waitMs: number | undefined;
  readonly #lines = new Map<string, Line>();
  /** Keys that wait and may run, in the order of their turns. */
  readonly #turns = new Set<string>();
  #running = 0;
  #waits = 0;

  constructor({ width, perKey = width, waiting, waitingPerKey, waitMs }: FairBounds) {
    this.#width = width;
    this.#perKey = perKey;
    this.#waiting = waiting;
    this.#waitingPerKey = waitingPerKey;
    this.#waitMs = waitMs;
  }

  async run<T>(key: string, work: (leave: () => void) => Promise<T>, signal?: AbortSignal, lane = ''): Promise<T> {
    signal?.throwIfAborted();
    let line = this.#lines.get(key);
    if (!line) this.#lines.set(key, (line = { running: 0, waits: 0, lanes: new Map() }));
    if (this.#running < this.#width && line.running < this.#perKey && line.waits === 0) {
      this.#running += 1;
      line.running += 1;
    } else await this.#wait(key, line, signal, lane);
    let isHere = true;
    const leave = (): void => {
      if (isHere) this.#running -= 1;
      isHere = false;
    };
    try {
      return await work(() => {
        leave();
        this.#startNext();
      });
    } finally {
      leave();
      line.running -= 1;
      this.#settle(key, line);
      this.#startNext();
    }
  }

  drain(why: Error): void {
    const all = [...this.#lines.values()].flatMap((line) => [...line.lanes.values()].flat());
    for (const line of this.#lines.values()) {
      line.lanes.clear();
      line.waits = 0;
    }
    this.#waits = 0;
    this.#turns.clear();
    for (const waiter of all) waiter.refuse(why);
  }

  size(): { running: number; waiting: number } {
    return { running: this.#running, waiting: this.#waits };
  }

  /** After a change of the line. A key that has a turn keeps its place. */
  #settle(key: string, line: Line): void {
    if (line.waits > 0 && line.running < this.#perKey) this.#turns.add(key);
    else this.#turns.delete(key);
    if (line.waits === 0 && line.running === 0) this.#lines.delete(key);
  }

  #startNext(): void {
    while (this.#running < this.#width && this.#turns.size > 0) {
      const key = this.#turns.values().next().value!;
      const line = this.#lines.get(key)!;
      const next = shift(line);
      this.#waits -= 1;
      this.#running += 1;
      line.running += 1;
      this.#turns.delete(key);
      this.#settle(key, line);
      next.start();
    }
  }

  #remove(key: string, waiter: Waiter): boolean {
    const line = this.#lines.get(key);
    for (const [name, lane] of line?.lanes ?? []) {
      const at = lane.indexOf(waiter);
      if (!line || at < 0) continue;
      lane.splice(at, 1);
      if (lane.length === 0) line.lanes.delete(name);
      line.waits -= 1;
      this.#waits -= 1;
      this.#settle(key, line);
      return true;
    }
    return false;
  }

  /** False: nobody has more waiting than the one who comes now would have. */
  #makeRoom(own: number): boolean {
    let most: [string, Line] | undefined;
    for (const entry of this.#lines) if (entry[1].waits > (most?.[1].waits ?? own + 1)) most = entry;
    if (!most) return false;
    const [longest] = [...most[1].lanes.values()].toSorted((a, b) => b.length - a.length);
    const last = longest?.at(-1);
    if (!last) return false;
    this.#remove(most[0], last);
    last.refuse(busy());
    return true;
  }

  #wait(key: string, line: Line, signal: AbortSignal | undefined, name: string): Promise<void> {
    const refusal =
      (line.lanes.get(name)?.length ?? 0) >= this.#waitingPerKey
        ? tooMany()
        : this.#waits >= this.#waiting && !this.#makeRoom(line.waits)
          ? busy()
          : undefined;
    if (refusal) {
      this.#settle(key, line);
      throw refusal;
    }
    return new Promise<void>((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const giveUp = (): void => void (this.#remove(key, waiter) && waiter.refuse(signal?.reason as Error));
      const settled = (then: () => void): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
        then();
      };
      const waiter: Waiter = { start: () => settled(resolve), refuse: (error) => settled(() => reject(error)) };
      if (this.#waitMs !== undefined)
        timer = setTimeout(() => this.#remove(key, waiter) && waiter.refuse(busy()), this.#waitMs);
      signal?.addEventListener('abort', giveUp, { once: true });
      const lane = line.lanes.get(name);
      if (lane) lane.push(waiter);
      else line.lanes.set(name, [waiter]);
      line.waits += 1;
      this.#waits += 1;
      this.#settle(key, line);
    });
  }
}

/**
 * The one way in which this process shares something between users: keys take turns, so whoever comes with one thing
 * waits for at most one of each other key, however much these have waiting. When all places are taken, the newest of the
 * key with the most gives way to a key with less.
 */
export const createFairQueue = (bounds: FairBounds): FairQueue => new TurnQueue(bounds);
