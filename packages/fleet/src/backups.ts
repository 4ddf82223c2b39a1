import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Selectable } from 'kysely';
import type { Database, Tables } from '@troupe/db';
import { BACKUPS_KEPT, type BackupReason } from '@troupe/domain';
import { AppError, newId, type Clock } from '@troupe/kernel';
import { removeTree } from '@troupe/agent';
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
  fileOf: (backup: Pick<BackupRow, 'agent_id' | 'id'>) => string;
  settingsOf: (backup: BackupRow) => AgentSnapshot;
  delete: (backup: BackupRow) => Promise<void>;
  /** Of the kind that is made by itself, the oldest go; `but` stays. */
  prune: (agent: AgentRow, but?: string) => Promise<void>;
  /** Removes what a process that died has left half done. */
  sweep: (agentId: string) => Promise<void>;
  removeAll: (agentId: string) => Promise<void>;
}

export interface BackupsDeps {
  db: Database;
  roster: AllAgents;
  driver: Driver;
  clock: Clock;
  dataDir: string;
  version: string;
}

const ENDING = '.tar.gz';
const PARTIAL = '.partial';

/** Where backups are, and which there are. */
function createPlaces({ db, dataDir }: BackupsDeps) {
  const folderOf = (agentId: string): string => path.join(dataDir, 'backups', agentId);
  const fileOf: Backups['fileOf'] = ({ agent_id, id }) => path.join(folderOf(agent_id), id + ENDING);

  const list = (agent: Pick<AgentRow, 'id' | 'user_id'>): Promise<BackupRow[]> =>
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
    await rm(fileOf(backup), { force: true });
  }

  return { folderOf, fileOf, list, remove };
}

function making(
  { db, roster, driver, clock, version }: BackupsDeps,
  { fileOf, list }: ReturnType<typeof createPlaces>,
): Pick<Backups, 'make'> {
  return {
    async make(agent, reason) {
      const most = BACKUPS_KEPT.manual;
      if (reason === 'manual' && (await list(agent)).filter((one) => one.reason === reason).length >= most)
        throw new AppError(409, `Too many backups (max ${most}). Delete one first.`);
      const id = newId();
      const file = fileOf({ agent_id: agent.id, id });
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      try {
        const settings = await roster.snapshot(agent);
        await driver.backup(agent, file + PARTIAL);
        const { size } = await stat(file + PARTIAL);
        const sha256 = await digest(file + PARTIAL);
        await rename(file + PARTIAL, file);
        return await db
          .user(agent.user_id)
          .insertInto('agent_backups')
          .values({
            id,
            agent_id: agent.id,
            user_id: agent.user_id,
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
        for (const left of [file, file + PARTIAL]) await rm(left, { force: true });
        throw error;
      }
    },
  };
}

export function createBackups(deps: BackupsDeps): Backups {
  const { db, driver } = deps;
  const places = createPlaces(deps);
  const { folderOf, fileOf, list, remove } = places;

  return {
    list,
    fileOf,
    delete: remove,
    settingsOf: (backup) => backup.settings as unknown as AgentSnapshot,

    ...making(deps, places),
    async get(agent, id) {
      const found = (await list(agent)).find((one) => one.id === id);
      if (!found) throw new AppError(404, 'Backup not found');
      return found;
    },

    async check(backup) {
      if (backup.driver !== driver.name)
        throw new AppError(409, `This backup was made by the ${backup.driver} driver. It cannot be restored here.`);
      const found = await digest(fileOf(backup)).catch(() => '');
      if (found !== backup.sha256) throw new AppError(409, 'This backup is damaged. Nothing was changed.');
    },

    async prune(agent, but) {
      const all = (await list(agent)).filter(({ id }) => id !== but);
      for (const reason of ['update', 'restore'] as const)
        for (const old of all.filter((one) => one.reason === reason).slice(BACKUPS_KEPT[reason])) await remove(old);
    },

    async sweep(agentId) {
      const known = await db.system.selectFrom('agent_backups').select('id').where('agent_id', '=', agentId).execute();
      const files = new Set(known.map(({ id }) => id + ENDING));
      for (const name of await readdir(folderOf(agentId)).catch(() => []))
        if (/\.tar\.gz(?:\.partial(?:\.rows)?)?$/.test(name) && !files.has(name))
          await removeTree(path.join(folderOf(agentId), name));
    },

    removeAll: (agentId) => rm(folderOf(agentId), { recursive: true, force: true }),
  };
}

async function digest(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
