import { inBatches } from '@troupe/kernel';

/** Looks one thing up. Whatever is asked for in one turn of the event loop goes out as one query. */
export type Lookup<Found> = (key: string) => Promise<Found | undefined>;

const MOST = 200;

/**
 * Requests that arrived together are checked together: a busy service spends most of its time on round trips. Nothing is
 * kept: every lookup reads the database after it was asked for.
 */
export const createLookup = <Found>(load: (keys: string[]) => Promise<ReadonlyMap<string, Found>>): Lookup<Found> =>
  inBatches<string, Found | undefined>(
    async (keys) => {
      const found = await load([...new Set(keys)]);
      return keys.map((key) => found.get(key));
    },
    { atMost: MOST, overlap: true },
  );
