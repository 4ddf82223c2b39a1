import { Linked } from '../linked.ts';

/** Requests that begin in one turn of the loop: whoever is at work waits for all of them. */
const IN_A_TURN = 32;
/** Of one client, while others are here. Alone, it has the whole turn. */
const OF_ONE = 4;
/** Who was here so recently counts as here. */
const HERE_MS = 1000;

/** Lets a request of the client begin: at once, or in a later turn. */
export interface Beginnings {
  begin: (client: number, start: () => void) => void;
  /** It is here: nobody else was lately. */
  isAlone: (client: number) => boolean;
  /** Milliseconds that those who began in the last turn had waited, at most. */
  waited: () => number;
}

interface Waiting {
  start: () => void;
  since: number;
}

/**
 * All who come together are let in at once, so that nobody waits at the door with a question that takes no time. What they
 * want is begun a few at a time, and clients take turns: a hundred requests of one are not begun before one of somebody else.
 */
class Turns implements Beginnings {
  readonly #now: () => number;
  /** Clients that wait, in the order of their turns. */
  readonly #lines = new Map<number, Linked<Waiting>>();
  /** What each has begun in this turn. */
  readonly #begun = new Map<number, number>();
  #inTurn = 0;
  #isComing = false;
  #waited = 0;
  /** The two clients that came last; one of them is always somebody else. */
  #last = { client: -1, at: -Infinity };
  #before = this.#last;

  readonly #next = (): void => this.#turn();

  constructor(now: () => number) {
    this.#now = now;
  }

  readonly waited = (): number => this.#waited;

  begin(client: number, start: () => void): void {
    const now = this.#now();
    this.#see(client, now);
    if (!this.#isComing) {
      this.#isComing = true;
      setImmediate(this.#next);
    }
    const line = this.#lines.get(client);
    if (!line && this.#mayBegin(client, now)) return this.#start(client, start);
    const own = line ?? new Linked<Waiting>();
    if (!line) this.#lines.set(client, own);
    own.add({ start, since: now });
  }

  isAlone(client: number): boolean {
    const now = this.#now();
    this.#see(client, now);
    return this.#isAloneAt(client, now);
  }

  #see(client: number, now: number): void {
    if (this.#last.client === client) this.#last.at = now;
    else {
      this.#before = this.#last;
      this.#last = { client, at: now };
    }
  }

  #mayBegin(client: number, now: number): boolean {
    if (this.#inTurn >= IN_A_TURN) return false;
    return (this.#begun.get(client) ?? 0) < OF_ONE || this.#isAloneAt(client, now);
  }

  #isAloneAt(client: number, now: number): boolean {
    const other = this.#last.client === client ? this.#before : this.#last;
    return other.at < now - HERE_MS;
  }

  #start(client: number, start: () => void): void {
    this.#inTurn += 1;
    this.#begun.set(client, (this.#begun.get(client) ?? 0) + 1);
    start();
  }

  #turn(): void {
    this.#inTurn = 0;
    this.#waited = 0;
    this.#begun.clear();
    this.#isComing = this.#lines.size > 0;
    if (!this.#isComing) return;
    setImmediate(this.#next);
    const now = this.#now();
    // Whoever has had its turn goes behind the others, and is met again until the turn is full.
    for (const [client, line] of this.#lines) {
      if (this.#inTurn >= IN_A_TURN) return;
      if (!this.#mayBegin(client, now)) continue;
      const { start, since } = line.shift()!;
      this.#lines.delete(client);
      if (line.size > 0) this.#lines.set(client, line);
      this.#waited = Math.max(this.#waited, now - since);
      this.#start(client, start);
    }
  }
}

export const createBeginnings = (now: () => number = () => performance.now()): Beginnings => new Turns(now);
