import { sql } from 'kysely';
import { newId, StartError, type Log, type Running, type Settings } from '@troupe/kernel';
import type { Database } from '../scopes.ts';
import { objectsFrom, ObjectsRefuse, type Objects } from './s3.ts';
import { createTree, type BlobTree, type TreeOwner } from './trees.ts';

/** Where files live that no single machine may lose. */
export interface Blobs {
  tree: (owner: TreeOwner) => BlobTree;
  /** Removes what nothing is made of any more, if this process is the one to do it; answers how much. */
  sweep: () => Promise<{ chunks: number; objects: number }>;
  close: () => Promise<void>;
}

export interface BlobsDeps {
  db: Database;
  log: Log;
  objects?: Objects | undefined;
  /** How long what nobody refers to is kept: a change may be under way that will. */
  graceMinutes?: number;
}

const GRACE_MINUTES = 60;
/** How long it is told that something was removed, to who has an older copy. */
const TOLD_HOURS = 24;
const AT_ONCE = 500;
const SWEEP_MS = 1_800_000;
const MAILS_KEPT = 10_000;
/** More than one sweep should take. */
const ROUNDS = 200;

/** Whether files are kept in the folder of one machine, or where every backend finds them. */
export const keepsBlobs = (settings: Pick<Settings, 'BLOB_STORE' | 'DATABASE_URL'>): boolean =>
  (settings.BLOB_STORE ?? (settings.DATABASE_URL === undefined ? 'folder' : 'postgres')) !== 'folder';

/** As the settings say; undefined: in the folder. Refuses settings with which files that are kept would not be found. */
export async function openBlobs(settings: Settings, { db, log }: Pick<BlobsDeps, 'db' | 'log'>) {
  const objects = objectsFrom(settings);
  const { rows } = await sql<{ trees: boolean; objects: boolean }>`select exists (select from blob_trees) as trees,
    exists (select from blob_chunks where object is not null) as objects`.execute(db.system);
  if (!objects && rows[0]?.objects)
    throw new StartError('Files of agents are in an object store: set BLOB_STORE to its s3:// address.');
  if (!keepsBlobs(settings)) {
    if (rows[0]?.trees) throw new StartError('Files of agents are in the database: set BLOB_STORE=postgres.');
    return undefined;
  }
  if (objects) await tryOut(objects, log);
  return createBlobs({ db, log, objects });
}

/** A wrong key is found now, not with the first file. One that is away may come back. */
async function tryOut(objects: Objects, log: Log): Promise<void> {
  const name = `try.${newId()}`;
  try {
    await objects.put(name, Buffer.from(name));
    await objects.remove(name);
  } catch (error) {
    if (error instanceof ObjectsRefuse && error.status < 500)
      throw new StartError(`The object store of BLOB_STORE cannot be used: ${error.message}.`);
    log.warn({ err: error }, 'the object store does not answer');
  }
}

/** Sweeps now and then, as long as it is not closed. */
export function keepSwept({ sweep }: Pick<Blobs, 'sweep'>, log: Log, everyMs = SWEEP_MS): Running {
  // Processes that started together take turns.
  const timer = setInterval(
    () =>
      void sweep().catch((err: unknown) => log.warn({ err }, 'files that nobody has any more could not be removed')),
    everyMs * (0.75 + Math.random() / 2),
  ).unref();
  return { close: async () => clearInterval(timer) };
}

export function createBlobs({ db, log, objects, graceMinutes = GRACE_MINUTES }: BlobsDeps): Blobs {
  const grace = sql`now() - make_interval(mins => ${graceMinutes})`;

  /** Chunks that are in use after all are no longer looked at; the others go. */
  async function sweepChunks(): Promise<number> {
    await sql`update blob_chunks c set loose_since = null where loose_since < ${grace}
      and exists (select from blob_parts p where p.user_id = c.user_id and p.hash = c.hash)`.execute(db.system);
    let gone = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const { rows } = await sql`delete from blob_chunks where (user_id, hash) in (
        select user_id, hash from blob_chunks c where loose_since < ${grace}
          and not exists (select from blob_parts p where p.user_id = c.user_id and p.hash = c.hash)
        order by loose_since limit ${AT_ONCE} for update skip locked) returning size`.execute(db.system);
      gone += rows.length;
      if (rows.length < AT_ONCE) break;
    }
    return gone;
  }

  async function sweepObjects(): Promise<number> {
    if (!objects) return 0;
    let gone = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const { rows } = await sql<{ object: string }>`select object from blob_objects o where since < ${grace}
        and not exists (select from blob_chunks c where c.object = o.object)
        order by since limit ${AT_ONCE}`.execute(db.system);
      for (const { object } of rows) {
        await objects.remove(object);
        await sql`delete from blob_objects where object = ${object}`.execute(db.system);
      }
      gone += rows.length;
      if (rows.length < AT_ONCE) break;
    }
    return gone;
  }

  /** Whoever knows a version from before begins anew. */
  const forgetRemoved = (): Promise<unknown> =>
    sql`with old as (
        delete from blob_files where kind = 'gone' and changed_at < now() - make_interval(hours => ${TOLD_HOURS})
        returning tree_id, version
      ) update blob_trees t set pruned = greatest(t.pruned, o.version)
      from (select tree_id, max(version) as version from old group by 1) o where t.id = o.tree_id`.execute(db.system);

  return {
    tree: (owner) => createTree({ db, objects }, owner),
    async sweep() {
      await forgetRemoved();
      await sql`delete from outbox_mails where created_at < (
        select created_at from outbox_mails order by created_at desc offset ${MAILS_KEPT} limit 1)`.execute(db.system);
      const chunks = await sweepChunks();
      const swept = { chunks, objects: await sweepObjects() };
      if (swept.chunks + swept.objects > 0) log.info(swept, 'files that nobody has any more were removed');
      return swept;
    },
    close: async () => objects?.close(),
  };
}
