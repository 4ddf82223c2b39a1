/** Looks one thing up. Whatever is asked for in one turn of the event loop goes out as one query. */
export type Lookup<Found> = (key: string) => Promise<Found | undefined>;

const MOST = 200;

/**
 * Requests that arrived together are checked together: a busy service spends most of its time on round trips. Nothing is
 * kept: every lookup reads the database after it was asked for.
 */
export function createLookup<Found>(load: (keys: string[]) => Promise<ReadonlyMap<string, Found>>): Lookup<Found> {
  let turn: { keys: Set<string>; found: Promise<ReadonlyMap<string, Found>> } | null = null;

  function startTurn(): { keys: Set<string>; found: Promise<ReadonlyMap<string, Found>> } {
    const keys = new Set<string>();
    const found = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      if (turn?.keys === keys) turn = null;
      return load([...keys]);
    });
    return { keys, found };
  }

  return async (key) => {
    if (turn === null || turn.keys.size >= MOST) turn = startTurn();
    turn.keys.add(key);
    return (await turn.found).get(key);
  };
}
