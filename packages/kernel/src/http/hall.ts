import type { Socket } from 'node:net';
import { Linked } from '../linked.ts';

/** All who come together would be begun in one turn, and whoever is at work would wait for them: so many are begun in a turn. */
const AT_ONCE = 4;
/** Beyond it more come than can be worked for: they are begun, so that whoever is one too many can be told so. */
const MOST_WAITING = 128;

/** Those who have come in by a door and wait until they are begun, in the order of coming. Nothing of them is read yet. */
export class Hall {
  readonly #waiting = new Linked<Socket>();
  readonly #begin: (socket: Socket) => void;

  constructor(begin: (socket: Socket) => void) {
    this.#begin = begin;
  }

  enter(socket: Socket): void {
    this.#waiting.add(socket);
    if (this.#waiting.size === 1) setImmediate(this.#turn);
  }

  /** Begins all who wait. */
  empty(): void {
    this.#take(this.#waiting.size);
  }

  readonly #turn = (): void => {
    const { size } = this.#waiting;
    this.#take(size > MOST_WAITING ? size : Math.min(size, AT_ONCE));
    if (this.#waiting.size > 0) setImmediate(this.#turn);
  };

  #take(count: number): void {
    for (let left = count; left > 0; left -= 1) {
      const socket = this.#waiting.shift()!;
      // Somebody may have taken its place meanwhile.
      if (!socket.destroyed) this.#begin(socket);
    }
  }
}
