import type { Database } from '@troupe/db';
import type { Clock } from '@troupe/kernel';
import { createAll, type AllAgents } from './all.ts';
import { createOwn, type OwnAgents } from './own.ts';
import { createRoom } from './room.ts';
import { createSeals } from './seals.ts';

/** The rows that agents are. Whoever wants them says for whom: one user, or the system. */
export interface Roster {
  of: (userId: string) => OwnAgents;
  system: AllAgents;
}

export interface RosterDeps {
  db: Database;
  clock: Clock;
  /** Seals gateway and channel tokens. */
  sealKey: string;
}

export function createRoster({ db, clock, sealKey }: RosterDeps): Roster {
  const room = createRoom({ db, clock });
  const seals = createSeals(sealKey);
  return { of: createOwn({ db, clock, seals, room }), system: createAll({ db, clock, seals, room }) };
}
