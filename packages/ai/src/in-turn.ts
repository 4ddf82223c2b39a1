import { setImmediate as nextTurn } from 'node:timers/promises';
import { createFairQueue } from '@troupe/kernel';

/** Reads so many bytes of an answer, at once or when its turn comes. */
export type InTurn = <T>(bytes: number, read: () => T) => T | Promise<T>;

/** What takes less than a turn of the loop is worth, in bytes. */
const LONG_PIECE = 8192;

export const atOnce: InTurn = (_bytes, read) => read();

/**
 * Turns to read what models answer. Much may have come of each of many answers, and to read all of it in one turn of the loop
 * would hold up everybody: what somebody else asks for takes many turns, and each would be as long. So of what is long one
 * piece is read in a turn, and those who are answered take turns. Who waits is not sent more by its provider meanwhile.
 */
export function createAnswerTurns(): (user: string, signal: AbortSignal | undefined) => InTurn {
  // How many answers there are is bounded where they are asked for.
  const queue = createFairQueue({ width: 1, waiting: Infinity, waitingPerKey: Infinity });
  return (user, signal) =>
    <T>(bytes: number, read: () => T) => {
      if (bytes < LONG_PIECE) return read();
      return new Promise<T>((resolve, reject) => {
        const turn = async (): Promise<void> => {
          try {
            resolve(read());
          } catch (error) {
            reject(error as Error);
          }
          await nextTurn();
        };
        queue.run(user, turn, signal).catch(reject);
      });
    };
}
