/**
 * Which of the channels that nobody listens at this process tries to get, and which of its own it lets go, so that all
 * backends have as many. Who listens is decided by the lease alone: this only says when it is worth asking for one.
 */

/** A channel's, among those of its process. */
export interface Place {
  /** Until it is worth to ask for the lease; at once after `signal`. */
  turn: (signal: AbortSignal) => Promise<void>;
  /** The lease is here; `letGo` gives it back. Answers what tells that it is here no more. */
  hold: (letGo: () => void) => () => void;
}

export interface Shares {
  /** For as long as the channel is open here. */
  place: (key: string) => Place;
  drop: (key: string) => void;
  /** Looks at what has no lease. */
  look: (isFree: ReadonlyMap<string, boolean>, backends: Backends) => void;
  held: () => number;
}

interface Backends {
  alive: number;
  /** Those that had the time to come up, and can take over. */
  settled: number;
}

interface SharesDeps {
  /** What was let go can be had. */
  left?: () => void;
  now?: () => number;
  random?: () => number;
}

/** What nobody else takes for so long is taken by whoever sees it, whatever it has: less than the time between two looks. */
const NOBODYS_MS = 4_000;
/** Let go at each look: half of what is too much, and not more than that. */
const MOST_LET_GO = 50;
/** What was let go and came back had nobody to go to: nothing is let go for so long, twice as long each time. */
const CALM_MS = 10_000;
const MOST_CALM_MS = 600_000;

interface Seat {
  waiting?: () => void;
  /** Its turn came, and the answer did not yet. */
  asking: boolean;
  letGo?: () => void;
  freeSince?: number;
  /** It was let go here, and nobody else has had it since. */
  given: boolean;
}

class ProcessShares implements Shares {
  readonly #seats = new Map<string, Seat>();
  readonly #left: () => void;
  readonly #now: () => number;
  readonly #random: () => number;
  #calmMs = CALM_MS;
  #quietUntil = -Infinity;
  /** Let go, and not given back yet. */
  #going = 0;

  constructor({ left = () => {}, now = () => performance.now(), random = Math.random }: SharesDeps) {
    this.#left = left;
    this.#now = now;
    this.#random = random;
  }

  place(key: string): Place {
    const seat: Seat = { asking: false, given: false };
    this.#seats.set(key, seat);
    return { turn: (signal) => takeTurn(seat, signal), hold: (letGo) => this.#hold(seat, letGo) };
  }

  drop(key: string): void {
    this.#seats.delete(key);
  }

  held(): number {
    return this.#held().length;
  }

  #held(): Seat[] {
    return [...this.#seats.values()].filter(({ letGo }) => letGo !== undefined);
  }

  #hold(seat: Seat, letGo: () => void): () => void {
    if (seat.given) {
      this.#quietUntil = this.#now() + this.#calmMs;
      this.#calmMs = Math.min(this.#calmMs * 2, MOST_CALM_MS);
    }
    seat.given = false;
    seat.asking = false;
    seat.letGo = letGo;
    return () => {
      seat.letGo = undefined;
      if (!seat.given) return;
      this.#going -= 1;
      if (this.#going === 0) this.#left();
    };
  }

  #letGo(all: readonly Seat[]): void {
    const mine = all.filter((seat) => seat.letGo && !seat.given);
    this.#going += mine.length;
    for (const seat of mine) seat.given = true;
    for (const seat of mine) seat.letGo?.();
  }

  /** Those that are free; the first of them is another one for each who looks. */
  #takeable(isFree: ReadonlyMap<string, boolean>): Seat[] {
    const found: { seat: Seat; order: number }[] = [];
    for (const [key, seat] of this.#seats) {
      if (isFree.get(key) === true) {
        seat.freeSince ??= this.#now();
        if (seat.waiting) found.push({ seat, order: this.#random() });
      } else {
        seat.freeSince = undefined;
        if (!seat.given || seat.letGo || seat.asking) continue;
        // Somebody else has it.
        seat.given = false;
        this.#calmMs = CALM_MS;
      }
    }
    return found.toSorted((a, b) => a.order - b.order).map(({ seat }) => seat);
  }

  look(isFree: ReadonlyMap<string, boolean>, { alive, settled }: Backends): void {
    const mine = this.#held();
    const all = [...this.#seats.values()];
    const total = all.filter(({ waiting, asking, letGo }) => waiting ?? letGo ?? asking).length;
    const shareOf = (backends: number): number => Math.ceil(total / Math.max(backends, 1));
    let has = all.filter(({ asking, letGo }) => letGo ?? asking).length;
    for (const seat of this.#takeable(isFree)) {
      if (has >= shareOf(alive) && this.#now() - seat.freeSince! < NOBODYS_MS) continue;
      has += 1;
      seat.waiting?.();
    }
    const over = mine.length - shareOf(settled);
    if (over <= 0 || this.#now() < this.#quietUntil) return;
    this.#quietUntil = this.#now() + NOBODYS_MS;
    this.#letGo(mine.slice(-Math.min(Math.ceil(over / 2), MOST_LET_GO)));
  }
}

function takeTurn(seat: Seat, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const over = (): void => {
    signal.removeEventListener('abort', over);
    seat.waiting = undefined;
    seat.asking = true;
    resolve();
  };
  seat.asking = false;
  seat.waiting = over;
  signal.addEventListener('abort', over);
  if (signal.aborted) over();
  return promise;
}

export const createShares = (deps: SharesDeps = {}): Shares => new ProcessShares(deps);

/** Of a process that knows of no others: at once, and then every few seconds. */
export function lookingAlone(wait: (signal: AbortSignal) => Promise<void>): Place {
  let isFirst = true;
  return {
    async turn(signal) {
      if (!isFirst) await wait(signal);
      isFirst = false;
    },
    hold: () => () => (isFirst = true),
  };
}
