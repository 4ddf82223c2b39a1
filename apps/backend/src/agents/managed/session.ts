import type { backend, Client, TypesOf } from '@troupe/contract';
import type { Listener } from '@troupe/db';
import type { ManagedFiles } from './files.ts';
import type { Resources } from './resources.ts';
import type { Managed, ManagedDeps } from './service.ts';
import type * as store from './store.ts';
import type { Talk } from './stream.ts';
import type { MemoryStores } from './stores.ts';
import type { Vaults } from './vaults.ts';

/** What the parts of sessions have in common. */

export interface SessionDeps extends Pick<ManagedDeps, 'db' | 'clock'> {
  managed: Managed;
  resources: Resources;
  files: ManagedFiles;
  vaults: Vaults;
  stores: MemoryStores;
  /** The agent's own gateway, as its owner. */
  reach: (agent: { id: string; userId: string }) => Promise<Client>;
  listener: Listener;
}

export interface Place extends Talk {
  session: store.SessionRow;
}

export type Shown = TypesOf<typeof backend.managed.getSession>['reply'];
/** What is known of it, or found another way. */
export interface About {
  status?: 'idle';
  of?: Managed['getAgent'];
}

export interface Inner {
  got: (userId: string, id: string) => Promise<store.SessionRow>;
  place: (userId: string, id: string) => Promise<Place>;
  shown: (userId: string, row: store.SessionRow, about?: About) => Promise<Shown>;
}
