/** One after another for each user: a thousand that wait for a lock would leave no connection for the one that has it. */
export function createInTurn() {
  const turns = new Map<string, Promise<unknown>>();
  return function inTurn<T>(userId: string, work: (isAlone: boolean) => Promise<T>): Promise<T> {
    const before = turns.get(userId);
    const mine = before ? before.then(() => work(false)) : work(true);
    const settled = mine.catch(() => undefined);
    turns.set(userId, settled);
    void settled.then(() => {
      if (turns.get(userId) === settled) turns.delete(userId);
    });
    return mine;
  };
}
