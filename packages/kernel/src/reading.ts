import { createFairQueue, type FairBounds } from './fair.ts';
import { leaveToOthers } from './turns.ts';

/** Each user's one at a time; all together leave the database to others. */
const ONE_EACH: FairBounds = { width: 4, perKey: 1, waiting: 500, waitingPerKey: 30 };

export type ReadTurns = <T>(userId: string, work: () => Promise<T>) => Promise<T>;

/** For what may be much of one user: it is read in turns, and after each others have their share before the next. */
export function createReadTurns(bounds: FairBounds = ONE_EACH): ReadTurns {
  const queue = createFairQueue(bounds);
  return (userId, work) =>
    queue.run(userId, async () => {
      const began = performance.now();
      const value = await work();
      await leaveToOthers(performance.now() - began);
      return value;
    });
}
