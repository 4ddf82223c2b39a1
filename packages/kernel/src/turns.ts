/**
 * Waits until everything that came in with this turn of the event loop has been handled; one promise for all who wait.
 * What is then written goes out at once: the other side wakes for many messages instead of for each, and that is a fifth
 * of what a short call costs.
 */
export function createTurns(): () => Promise<void> {
  let turn: Promise<void> | undefined;
  return () =>
    (turn ??= new Promise((resolve) => {
      setImmediate(() => {
        turn = undefined;
        resolve();
      });
    }));
}
