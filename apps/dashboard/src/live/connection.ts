export type Connection = { state: 'opening' | 'live' } | { state: 'away'; since: number };

export interface ConnectionStore {
  now: () => Connection;
  subscribe: (tell: () => void) => () => void;
  become: (next: Connection) => void;
}

/** How the tab's stream is, for whoever shows it. `back`: it is there again after it was not. */
export function createConnection(back: () => void): ConnectionStore {
  const told = new Set<() => void>();
  let now: Connection = { state: 'opening' };
  return {
    now: () => now,
    subscribe(tell) {
      told.add(tell);
      return () => told.delete(tell);
    },
    become(next) {
      // Since when it is away is said once.
      if (next.state === 'away' && now.state === 'away') return;
      const wasAway = now.state === 'away';
      now = next;
      for (const tell of told) tell();
      if (next.state === 'live' && wasAway) back();
    },
  };
}
