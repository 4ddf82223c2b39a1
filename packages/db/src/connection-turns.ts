import { databaseAway } from '@troupe/kernel';

interface Waiter {
  go: () => void;
}

/**
 * Who gets the next connection. All who wait take turns, by whose query it is: whoever asks for hundreds of things at once
 * waits for their own, and who asks for one thing waits for at most one of each other.
 */
export class ConnectionTurns {
  #free: number;
  #waits = 0;
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
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#remove(whose, waiter);
        reject(databaseAway(new Error(`no connection was free for ${this.#waitMs} ms`)));
      }, this.#waitMs);
      const waiter: Waiter = {
        go: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      this.#waits += 1;
      const line = this.#lines.get(whose);
      if (line) line.push(waiter);
      else this.#lines.set(whose, [waiter]);
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

  #remove(whose: string, waiter: Waiter): void {
    const line = this.#lines.get(whose) ?? [];
    line.splice(line.indexOf(waiter), 1);
    if (line.length === 0) this.#lines.delete(whose);
    this.#waits -= 1;
  }
}
