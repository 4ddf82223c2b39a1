import { applyConfigJob } from '@troupe/contract';
import { defaultAgentConfig, readAgentConfig } from '@troupe/domain';
import type { Database, Jobs, UserTx } from '@troupe/db';
import { AppError, iso, parseJson, randomHex, type Clock } from '@troupe/kernel';
import { addBackup, findBackup, findConfig, listBackups, lockConfig, putConfig, type ConfigValue } from './store.ts';

const BACKUPS_KEPT = 10;

export interface ConfigDeps {
  db: Database;
  clock: Clock;
  jobs: Jobs;
}

export type ConfigService = ReturnType<typeof createConfig>;

export function createConfig({ db, clock, jobs }: ConfigDeps) {
  const current = (found: ConfigValue | null): ConfigValue => found ?? defaultAgentConfig();

  const summaries = async (tx: UserTx) =>
    (await listBackups(tx)).map(({ id, created_at }) => ({ id, timestamp: iso(created_at) }));

  /** Backs up what there is and puts the next one in its place, in the caller's transaction. */
  async function replace(tx: UserTx, owner: string, before: ConfigValue, next: ConfigValue): Promise<string> {
    const backupId = `bkp_${randomHex(12)}`;
    await addBackup(tx, owner, backupId, before, clock(), BACKUPS_KEPT);
    await putConfig(tx, owner, next, clock());
    // The owner's agents take it over; sent with the change, so neither is lost without the other.
    await jobs.send(tx, applyConfigJob, { owner }, { owner });
    return backupId;
  }

  return {
    read: (owner: string) =>
      db.asUser(owner, async (tx) => ({ config: current(await findConfig(tx)), backups: await summaries(tx) })),

    async save(owner: string, given: unknown) {
      const config = readConfig(given);
      return db.asUser(owner, async (tx) => {
        const backupId = await replace(tx, owner, current(await lockConfig(tx, owner)), config);
        return { success: true as const, config, backupId, backups: await summaries(tx) };
      });
    },

    restore: (owner: string, backupId: string) =>
      db.asUser(owner, async (tx) => {
        const before = current(await lockConfig(tx, owner));
        const backup = await findBackup(tx, backupId);
        if (!backup) throw new AppError(404, 'Backup not found');
        await replace(tx, owner, before, backup.config);
        return { success: true as const, config: backup.config, restoredFrom: backupId, backups: await summaries(tx) };
      }),

    async backup(owner: string, id: string) {
      const found = await findBackup(db.user(owner), id);
      if (!found) throw new AppError(404, 'Backup not found');
      return { id, timestamp: iso(found.at), config: found.config };
    },
  };
}

/** A configuration may come as an object, or as the text of one. */
function readConfig(given: unknown): ConfigValue {
  const value = typeof given === 'string' ? parseJson(given, 'Config is not valid JSON') : given;
  const reading = readAgentConfig(value);
  if (!reading.ok) throw new AppError(400, reading.error);
  return reading.config;
}
