interface Listed {
  postings: Uint8Array;
}

/** All that somebody's questions read again and again are the lists of common words. */
export interface KeptLists<L extends Listed> {
  get: (key: string, state: string) => L[] | undefined;
  put: (key: string, state: string, lists: L[]) => void;
}

const MOST_BYTES = 8 * 1024 * 1024;
/** Shorter ones are read as fast as they are found here. */
const LEAST_BYTES = 8 * 1024;

/**
 * Lists of this process, the longest unused going first. `state` is what the collection was like when a list was read: one
 * that has changed since is read anew. Who may see the collection has been asked before.
 */
export function createKeptLists<L extends Listed>(most = MOST_BYTES): KeptLists<L> {
  const kept = new Map<string, { state: string; lists: L[]; bytes: number }>();
  let room = most;
  const drop = (key: string): void => {
    room += kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  };
  return {
    get(key, state) {
      const found = kept.get(key);
      if (!found) return undefined;
      if (found.state !== state) {
        drop(key);
        return undefined;
      }
      kept.delete(key);
      kept.set(key, found);
      return found.lists;
    },
    put(key, state, lists) {
      const bytes = lists.reduce((sum, { postings }) => sum + postings.length, 0);
      if (bytes < LEAST_BYTES || bytes > most / 4) return;
      drop(key);
      for (const [oldest] of kept) {
        if (room >= bytes) break;
        drop(oldest);
      }
      kept.set(key, { state, lists, bytes });
      room -= bytes;
    },
  };
}
