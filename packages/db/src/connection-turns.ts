import { databaseAway } from '@troupe/kernel';

interface Waiter {
  go: () => void;
  giveUp: (error: Error) => void;
  since: number;
}

/**
 * Who gets the next connection. All who wait take turns, by whose query it is: whoever asks for hundreds of things at once
 * waits for their own, and who asks for one thing waits for at most one of each other.
 */
export class ConnectionTurns {
  #free: number;
  #waits = 0;
  #looking: NodeJS.Timeout | undefined;
  readonly #waitMs: number;
  /** In the order of their turns. */
  readonly #lines = new Map<string, Waiter[]>();

  constructor(connections: number, waitMs: number) {
    this.#free = connections;
    this.#waitMs = waitMs;
  }

  get waiting(): number {
    return this.#waits;
  }

  /** Undefined: at once. To be followed by one `leave`, unless it rejects: nobody waits for longer than is said. */
  take(whose: string): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free -= 1;
      return undefined;
    }
    return new Promise((go, giveUp) => {
      const waiter: Waiter = { go, giveUp, since: performance.now() };
      this.#waits += 1;
      const line = this.#lines.get(whose);
      if (line) line.push(waiter);
      else this.#lines.set(whose, [waiter]);
      // One for all: on a busy service most wait, for a moment.
      this.#looking ??= setInterval(() => this.#look(), this.#waitMs / 10);
    });
  }

  leave(): void {
    const next = this.#lines.entries().next().value;
    if (!next) {
      this.#free += 1;
      return;
    }
    const [whose, line] = next;
    const first = line.shift();
    // The next of the same is behind all others.
    this.#lines.delete(whose);
    if (line.length > 0) this.#lines.set(whose, line);
    this.#waits -= 1;
    first?.go();
  }

  #look(): void {
    const before = performance.now() - this.#waitMs;
    for (const [whose, line] of this.#lines) {
      while (line[0] && line[0].since <= before) {
        line.shift()?.giveUp(databaseAway(new Error(`no connection was free for ${this.#waitMs} ms`)));
        this.#waits -= 1;
      }
      if (line.length === 0) this.#lines.delete(whose);
    }
    if (this.#waits > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }
}
