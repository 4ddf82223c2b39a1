import type { Selectable } from 'kysely';
import type { Blobs, Database, Tables } from '@troupe/db';
import { BACKUPS_KEPT, type BackupReason } from '@troupe/domain';
import { AppError, newId, type Clock } from '@troupe/kernel';
import { blobShelf, digest, folderShelf, type Shelf } from './backup-shelf.ts';
import type { Driver } from './driver.ts';
import type { AgentRow, AgentSnapshot, AllAgents } from '@troupe/roster';

export type BackupRow = Selectable<Tables['agent_backups']>;

/** The copies of agents: a row says that there is one, its file holds the data, and is checked before it is used. */
export interface Backups {
  make: (agent: AgentRow, reason: BackupReason) => Promise<BackupRow>;
  /** Newest first. */
  list: (agent: AgentRow) => Promise<BackupRow[]>;
  /** Throws 404. */
  get: (agent: AgentRow, id: string) => Promise<BackupRow>;
  /** Throws 409 when the file is not what was written, or not for this driver. */
  check: (backup: BackupRow) => Promise<void>;
  nameOf: Shelf['nameOf'];
  read: Shelf['read'];
  use: Shelf['use'];
  settingsOf: (backup: BackupRow) => AgentSnapshot;
  delete: (backup: BackupRow) => Promise<void>;
  /** Of the kind that is made by itself, the oldest go; `but` stays. */
  prune: (agent: AgentRow, but?: string) => Promise<void>;
  /** Removes what a process that died has left half done. */
  sweep: (agentId: string, userId?: string) => Promise<void>;
  removeAll: (agentId: string) => Promise<void>;
}

export interface BackupsDeps {
  db: Database;
  roster: AllAgents;
  driver: Driver;
  clock: Clock;
  dataDir: string;
  /** Where archives are kept; left out: in the folder. */
  blobs?: Blobs | undefined;
  version: string;
}

function making(
  { db, roster, driver, clock, version }: BackupsDeps,
  { list }: Pick<Backups, 'list'>,
  shelf: Shelf,
): Pick<Backups, 'make'> {
  return {
    async make(agent, reason) {
      const most = BACKUPS_KEPT.manual;
      if (reason === 'manual' && (await list(agent)).filter((one) => one.reason === reason).length >= most)
        throw new AppError(409, `Too many backups (max ${most}). Delete one first.`);
      const filed = { id: newId(), agent_id: agent.id, user_id: agent.user_id };
      try {
        const settings = await roster.snapshot(agent);
        const { size, sha256 } = await shelf.put(filed, (file) => driver.backup(agent, file));
        return await db
          .user(agent.user_id)
          .insertInto('agent_backups')
          .values({
            ...filed,
            created_at: clock(),
            reason,
            driver: driver.name,
            image: agent.image ?? driver.image,
            version: agent.runtime_version ?? version,
            size: BigInt(size),
            sha256,
            settings: { ...settings },
          })
          .returningAll()
          .executeTakeFirstOrThrow();
      } catch (error) {
        // What is left when this fails too is swept up later.
        await shelf.remove(filed).catch(() => undefined);
        throw error;
      }
    },
  };
}

export function createBackups(deps: BackupsDeps): Backups {
  const { db, driver } = deps;
  const shelf = deps.blobs ? blobShelf(deps.blobs, deps.dataDir) : folderShelf(deps.dataDir);

  const list: Backups['list'] = (agent) =>
    db
      .user(agent.user_id)
      .selectFrom('agent_backups')
      .selectAll()
      .where('agent_id', '=', agent.id)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .execute();

  async function remove(backup: BackupRow): Promise<void> {
    // The row first: a row without a file would be a promise that nobody keeps.
    await db.user(backup.user_id).deleteFrom('agent_backups').where('id', '=', backup.id).execute();
    await shelf.remove(backup);
  }

  return {
    list,
    nameOf: shelf.nameOf,
    read: shelf.read,
    use: shelf.use,
    delete: remove,
    settingsOf: (backup) => backup.settings as unknown as AgentSnapshot,

    ...making(deps, { list }, shelf),
    async get(agent, id) {
      const found = (await list(agent)).find((one) => one.id === id);
      if (!found) throw new AppError(404, 'Backup not found');
      return found;
    },

    async check(backup) {
      if (backup.driver !== driver.name)
        throw new AppError(409, `This backup was made by the ${backup.driver} driver. It cannot be restored here.`);
      const found = await shelf.read(backup).then(
        ({ stream }) => digest(stream),
        () => '',
      );
      if (found !== backup.sha256) throw new AppError(409, 'This backup is damaged. Nothing was changed.');
    },

    async prune(agent, but) {
      const all = (await list(agent)).filter(({ id }) => id !== but);
      for (const reason of ['update', 'restore'] as const)
        for (const old of all.filter((one) => one.reason === reason).slice(BACKUPS_KEPT[reason])) await remove(old);
    },

    async sweep(agentId, userId) {
      const known = await db.system.selectFrom('agent_backups').select('id').where('agent_id', '=', agentId).execute();
      const filing = { agent_id: agentId, ...(userId !== undefined && { user_id: userId }) };
      await shelf.sweep(filing, new Set(known.map(({ id }) => id)));
    },

    removeAll: shelf.removeAll,
  };
}
