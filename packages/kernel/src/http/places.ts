import { busy } from '../fair.ts';
import { Linked, type Place } from '../linked.ts';

/** Requests of one account that are worked on at once while others are here, too. Alone, it has everything. */
export const AT_ONCE = 2;
/** What takes longer waits for something else and holds up nobody: it no longer counts. */
const HOLD_MS = 200;
/** Who was here so recently counts as here. */
const HERE_MS = 1000;
/** Nobody rests for longer, whatever there was. */
const LONGEST_REST_MS = 2000;
/** Accounts that are kept before those that are gone are looked for. */
const SWEEP_AT = 1000;

/** A place, given back when the request has its answer. To be said once. */
export type Leave = () => void;

/** For whoever has to wait. */
export interface Turn {
  comes: Promise<Leave>;
  /** Waits no longer, and the turn never comes; may be said at any time. */
  withdraw: () => void;
}

export interface Places {
  /**
   * A place for a request of the account: at once, or when its turn comes. Throws 503 when there is too much to do. An
   * address of strangers has turns as an account has; all strangers together have the room of one account.
   */
  enter: (account: string, isStranger?: boolean) => Leave | Turn;
  /** The same for what has no turn: it only counts. Undefined: nobody says whose it is. */
  pass: (account?: string) => Leave;
  /** The account took so much of the loop by itself: while others are here, nothing more of it begins for so many milliseconds. */
  rest: (account: string, ms: number) => void;
  /** What is worked on or waits for its turn. */
  underWay: () => number;
}

interface Held {
  since: number;
}

interface Waiter {
  come: (leave: Leave) => void;
}

interface Line {
  account: string;
  isStranger: boolean;
  /** The oldest first. */
  held: Linked<Held>;
  waiting: Linked<Waiter>;
  restsUntil: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Shares the event loop between accounts. Whoever sends a hundred requests together would be worked on a hundredfold for
 * each one of somebody else; while others are here a few of them are, and the rest wait for these to end.
 *
 * Of what is under way at all there is a bound. Nobody may have more of it than is left free: whoever is alone gets half,
 * two a third each, and whoever comes with a first request gets in until everything is taken.
 */
class SharedPlaces implements Places {
  readonly #most: number;
  readonly #now: () => number;
  #underWay = 0;
  /** Of these, those whom nobody knows; together they are one account. */
  #strangers = 0;
  readonly #lines = new Map<string, Line>();
  #sweepAt = SWEEP_AT;
  /** The two accounts that came last; one of them is always somebody else. */
  #last = { account: '', at: -Infinity };
  #before = this.#last;

  readonly #goesOn = (line: Line): void => this.#goOn(line);

  readonly #strangerLeaves = (): void => {
    this.#strangers -= 1;
    this.#underWay -= 1;
  };

  constructor(most: number, now: () => number) {
    this.#most = most;
    this.#now = now;
  }

  underWay(): number {
    return this.#underWay;
  }

  pass(account?: string): Leave {
    if (account !== undefined) {
      const line = this.#lineOf(account);
      this.#count(line.held.size + line.waiting.size);
      return this.#take(line);
    }
    this.#count(this.#strangers);
    this.#strangers += 1;
    return this.#strangerLeaves;
  }

  enter(account: string, isStranger = false): Leave | Turn {
    this.#see(account);
    const line = this.#lineOf(account, isStranger);
    this.#count(isStranger ? this.#strangers : line.held.size + line.waiting.size);
    if (isStranger) this.#strangers += 1;
    if (line.waiting.size === 0 && this.#hasPlace(line)) return this.#take(line);
    const { promise: comes, resolve: come } = Promise.withResolvers<Leave>();
    const place = line.waiting.add({ come });
    line.timer ??= setTimeout(this.#goesOn, HOLD_MS / 4, line).unref();
    const withdraw = (): void => {
      if (line.waiting.delete(place)) this.#gone(line);
    };
    return { comes, withdraw };
  }

  rest(account: string, ms: number): void {
    const line = this.#lines.get(account);
    const now = this.#now();
    if (line) line.restsUntil = Math.min(Math.max(line.restsUntil, now) + ms, now + LONGEST_REST_MS);
  }

  #count(own: number): void {
    if (own >= this.#most - this.#underWay) throw busy();
    this.#underWay += 1;
  }

  #see(account: string): void {
    if (this.#last.account === account) this.#last.at = this.#now();
    else {
      this.#before = this.#last;
      this.#last = { account, at: this.#now() };
    }
  }

  #isAlone(account: string): boolean {
    const other = this.#last.account === account ? this.#before : this.#last;
    return other.at < this.#now() - HERE_MS;
  }

  #gone({ isStranger }: Line): void {
    this.#underWay -= 1;
    if (isStranger) this.#strangers -= 1;
  }

  #lineOf(account: string, isStranger = false): Line {
    let line = this.#lines.get(account);
    if (line) return line;
    if (this.#lines.size >= this.#sweepAt) this.#sweep();
    line = { account, isStranger, held: new Linked(), waiting: new Linked(), restsUntil: 0, timer: undefined };
    this.#lines.set(account, line);
    return line;
  }

  /** Not with each request: what comes and goes in a map that often is kept from being collected. */
  #sweep(): void {
    for (const [account, { held, waiting }] of this.#lines)
      if (held.size === 0 && waiting.size === 0) this.#lines.delete(account);
    this.#sweepAt = Math.max(SWEEP_AT, this.#lines.size * 2);
  }

  #hasPlace({ account, held, restsUntil }: Line): boolean {
    const isResting = restsUntil > 0 && restsUntil > this.#now();
    if ((held.size < AT_ONCE && !isResting) || this.#isAlone(account)) return true;
    return !isResting && held.fromLast(AT_ONCE - 1)!.since <= this.#now() - HOLD_MS;
  }

  #take(line: Line): Leave {
    const place: Place<Held> = line.held.add({ since: this.#now() });
    return () => {
      if (line.held.delete(place)) this.#gone(line);
      if (line.waiting.size > 0) this.#goOn(line);
    };
  }

  #goOn(line: Line): void {
    while (line.waiting.size > 0 && this.#hasPlace(line)) line.waiting.shift()!.come(this.#take(line));
    clearTimeout(line.timer);
    line.timer = line.waiting.size > 0 ? setTimeout(this.#goesOn, HOLD_MS / 4, line).unref() : undefined;
  }
}

export const createPlaces = (most = Infinity, now: () => number = () => performance.now()): Places =>
  new SharedPlaces(most, now);
