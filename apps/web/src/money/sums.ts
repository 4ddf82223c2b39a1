import { createReadTurns, type ReadTurns } from '@troupe/kernel';

/** Sums over all that somebody ever used: each user's are read one at a time, and all together leave the database to others. */
const READ = { width: 2, perKey: 1, waiting: 500, waitingPerKey: 30 };

export const createSums = (): ReadTurns => createReadTurns(READ);
