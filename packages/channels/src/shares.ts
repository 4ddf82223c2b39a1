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

export interface Backends {
  alive: number;
  /** Those that had the time to come up, and can take over. */
  settled: number;
}

export interface SharesDeps {
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

export function createShares({
  left = () => {},
  now = () => performance.now(),
  random = Math.random,
}: SharesDeps = {}): Shares {
  const seats = new Map<string, Seat>();
  let calmMs = CALM_MS;
  let quietUntil = -Infinity;
  /** Let go, and not given back yet. */
  let going = 0;
  const held = (): Seat[] => [...seats.values()].filter(({ letGo }) => letGo !== undefined);

  function place(key: string): Place {
    const seat: Seat = { asking: false, given: false };
    seats.set(key, seat);
    return {
      turn(signal) {
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
      },
      hold(letGo) {
        if (seat.given) {
          quietUntil = now() + calmMs;
          calmMs = Math.min(calmMs * 2, MOST_CALM_MS);
        }
        seat.given = false;
        seat.asking = false;
        seat.letGo = letGo;
        return () => {
          seat.letGo = undefined;
          if (!seat.given) return;
          going -= 1;
          if (going === 0) left();
        };
      },
    };
  }

  function letGo(all: readonly Seat[]): void {
    const mine = all.filter((seat) => seat.letGo && !seat.given);
    going += mine.length;
    for (const seat of mine) seat.given = true;
    for (const seat of mine) seat.letGo?.();
  }

  /** Those that are free; the first of them is another one for each who looks. */
  function takeable(isFree: ReadonlyMap<string, boolean>): Seat[] {
    const found: { seat: Seat; order: number }[] = [];
    for (const [key, seat] of seats) {
      if (isFree.get(key) === true) {
        seat.freeSince ??= now();
        if (seat.waiting) found.push({ seat, order: random() });
      } else {
        seat.freeSince = undefined;
        if (!seat.given || seat.letGo || seat.asking) continue;
        seat.given = false;
        calmMs = CALM_MS;
      }
    }
    return found.toSorted((a, b) => a.order - b.order).map(({ seat }) => seat);
  }

  return {
    place,
    drop: (key) => void seats.delete(key),
    held: () => held().length,
    look(isFree, { alive, settled }) {
      const mine = held();
      const all = [...seats.values()];
      const total = all.filter(({ waiting, asking, letGo: has }) => waiting ?? has ?? asking).length;
      const shareOf = (backends: number): number => Math.ceil(total / Math.max(backends, 1));
      let has = all.filter(({ asking, letGo: own }) => own ?? asking).length;
      for (const seat of takeable(isFree)) {
        if (has >= shareOf(alive) && now() - seat.freeSince! < NOBODYS_MS) continue;
        has += 1;
        seat.waiting?.();
      }
      const over = mine.length - shareOf(settled);
      if (over <= 0 || now() < quietUntil) return;
      quietUntil = now() + NOBODYS_MS;
      letGo(mine.slice(-Math.min(Math.ceil(over / 2), MOST_LET_GO)));
    },
  };
}

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
