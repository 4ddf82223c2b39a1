import type { Database, UserTx } from '@troupe/db';
import { sql } from 'kysely';

/** Skills of the library and their versions, as they are told. Their rows are the roster's. */

export interface SkillRow {
  id: string;
  name: string;
  display_name: string | null;
  digest: string;
  created_at: Date;
  updated_at: Date;
}

const newest = sql<string>`(select digest from skill_versions where skill_id = skills.id order by number desc limit 1)`;

export const skills = (
  db: Database,
  userId: string,
  { ids, limit, offset }: { ids?: readonly string[]; limit: number; offset: number },
): Promise<SkillRow[]> =>
  db
    .user(userId)
    .selectFrom('skills')
    .select(['id', 'name', 'display_name', 'created_at', 'updated_at'])
    .select(newest.as('digest'))
    .$if(ids !== undefined, (query) => query.where('id', 'in', [...ids!, '']))
    .orderBy('name')
    .limit(limit)
    .offset(offset)
    .execute();

export const callSkill = (tx: UserTx, id: string, name: string) =>
  tx.updateTable('skills').set({ display_name: name }).where('id', '=', id).execute();

export interface VersionRow {
  id: string;
  digest: string;
  name: string;
  description: string;
  accepted_at: Date | null;
  bytes: number;
}

const ofSkill = (tx: UserTx, skillId: string) =>
  tx
    .selectFrom('skill_versions')
    .select(['id', 'digest', 'name', 'description', 'accepted_at', 'bytes'])
    .where('skill_id', '=', skillId);

export const versions = (tx: UserTx, skillId: string, { limit, offset }: { limit: number; offset: number }) =>
  ofSkill(tx, skillId).orderBy('number', 'desc').limit(limit).offset(offset).execute();

/** The newest of that digest, or of all. */
export const version = (tx: UserTx, skillId: string, digest?: string): Promise<VersionRow | undefined> =>
  ofSkill(tx, skillId)
    .$if(digest !== undefined, (query) => query.where('digest', '=', digest!))
    .orderBy('number', 'desc')
    .executeTakeFirst();

export const removeVersion = (tx: UserTx, skillId: string, digest: string) =>
  tx.deleteFrom('skill_versions').where('skill_id', '=', skillId).where('digest', '=', digest).execute();

export const filesOf = (tx: UserTx, versionId: string) =>
  tx
    .selectFrom('skill_files')
    .select(['path', 'content'])
    .where('version_id', '=', versionId)
    .orderBy('path')
    .execute();
