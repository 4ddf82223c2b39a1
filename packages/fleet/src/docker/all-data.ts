import { sql } from 'kysely';
import type { Database } from '@troupe/db';
import type { Log } from '@troupe/kernel';
import { createOperations } from '../operations.ts';
import { ask } from './calls.ts';
import { dockerEngine } from './engine.ts';
import { createVolumes } from './volume.ts';

/** The data of all agents in containers, for a backup of the whole platform. */
export interface ContainerData {
  has: (agentId: string) => Promise<boolean>;
  /** Copies it, whatever its size, while nobody else acts on the agent; false: there is none. */
  copy: (db: Database, agentId: string, file: string) => Promise<boolean>;
  /** Makes it what the file holds. */
  put: (agentId: string, file: string) => Promise<void>;
  remove: (agentId: string) => Promise<void>;
}

/** Throws when the engine does not answer. */
export async function reachContainerData(host: string | undefined, log: Log): Promise<ContainerData> {
  const engine = await dockerEngine(host);
  await ask(engine.ping());
  const volumes = createVolumes(engine);
  return {
    has: volumes.has,
    put: volumes.replace,
    remove: volumes.remove,
    copy(db, agentId, file) {
      // What another process has left half done is the platform's to finish, as it finishes a copy that ends here.
      const operations = createOperations({ db, log, redo: async (_agentId, _action, { later }) => later() });
      return operations.run(agentId, 'backup', async () => {
        if (!(await volumes.has(agentId))) return false;
        await volumes.copy(agentId, file, Infinity);
        return true;
      });
    },
  };
}

/** What ran elsewhere is to run here: the platform starts it as soon as it runs itself. */
export async function startLater(db: Database): Promise<void> {
  await sql`insert into agent_operations (agent_id, action, owner, lease_until)
    select id, 'restart', 'restore', clock_timestamp() from agents where status = 'running' and driver is null
    on conflict do nothing`.execute(db.system);
}
