import { sql } from 'kysely';
import type { Log, Settings } from '@troupe/kernel';
import type { Database } from '../scopes.ts';
import { objectsFrom, type Objects } from './s3.ts';
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
/** More than one sweep should take. */
const ROUNDS = 200;

/** Whether files are kept in the folder of one machine, or where every backend finds them. */
export const keepsBlobs = (settings: Pick<Settings, 'BLOB_STORE' | 'DATABASE_URL'>): boolean =>
  (settings.BLOB_STORE ?? (settings.DATABASE_URL === undefined ? 'folder' : 'postgres')) !== 'folder';

/** As the settings say; undefined: in the folder. */
export const blobsFrom = (settings: Settings, deps: Pick<BlobsDeps, 'db' | 'log'>): Blobs | undefined =>
  keepsBlobs(settings) ? createBlobs({ ...deps, objects: objectsFrom(settings) }) : undefined;

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
      const chunks = await sweepChunks();
      const swept = { chunks, objects: await sweepObjects() };
      if (swept.chunks + swept.objects > 0) log.info(swept, 'files that nobody has any more were removed');
      return swept;
    },
    close: async () => objects?.close(),
  };
}
