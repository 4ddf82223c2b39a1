import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
/**
 * Calls back when everything that came in with this turn of the event loop has been handled; one wait for all. What is
 * then written goes out at once: the other side wakes for many messages instead of for each, and that is a fifth of what
 * a short call costs. A callback must not throw: the others of its turn would be lost.
 */
export type EndOfTurn = (then: () => void) => void;

export function createEndOfTurn(): EndOfTurn {
  let waiting: (() => void)[] = [];
  const run = (): void => {
    const turn = waiting;
    waiting = [];
    for (const then of turn) then();
  };
  return (then) => {
    if (waiting.push(then) === 1) setImmediate(run);
  };
}

/** Others have so much of the loop for each millisecond that a long text took, and what looks through it takes as long again. */
const SHARE_OF_OTHERS = 4;
const LONGEST_REST_MS = 200;

/**
 * Settles when others had their share after something that took so many milliseconds. The turn of the loop alone is not
 * enough: what somebody else asks for takes many turns, and each would be as long as a text takes to read.
 */
export async function leaveToOthers(took: number): Promise<void> {
  await nextTurn();
  if (took >= 1) await delay(Math.min(LONGEST_REST_MS, took * SHARE_OF_OTHERS));
}
