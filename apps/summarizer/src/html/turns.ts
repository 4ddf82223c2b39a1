/** Waits for the caller's next turn. */
export type NextTurn = () => Promise<void>;

/**
 * Turns for long work in one thread: one caller goes on at a time, and between any two the event loop looks after
 * everything else. With a plain `setImmediate` all of them would go on together and others would wait for them all.
 */
export function createNextTurn(): NextTurn {
  const waiting: (() => void)[] = [];
  function next() {
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(next);
  }
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(next);
    });
}
