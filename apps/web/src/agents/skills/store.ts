import type { UserTx } from '@troupe/db';
import { sql } from 'kysely';

/** What is shown of skills. Their rows are written by the roster, which agents are given them by. */

const HEAD = ['id', 'name', 'description', 'digest', 'head', 'report', 'source', 'bytes', 'created_at'] as const;

export const listReviews = (tx: UserTx) =>
  tx
    .selectFrom('skill_versions')
    .select(HEAD)
    .where('skill_id', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();

export const findReview = (tx: UserTx, id: string) =>
  tx.selectFrom('skill_versions').select(HEAD).where('id', '=', id).where('skill_id', 'is', null).executeTakeFirst();

export const lockReview = (tx: UserTx, id: string) =>
  tx
    .selectFrom('skill_versions')
    .select(['id', 'name', 'digest'])
    .where('id', '=', id)
    .where('skill_id', 'is', null)
    .forUpdate()
    .executeTakeFirst();

export async function removeReview(tx: UserTx, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('skill_versions')
    .where('id', '=', id)
    .where('skill_id', 'is', null)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export const removeOldReviews = (tx: UserTx, before: Date) =>
  tx.deleteFrom('skill_versions').where('skill_id', 'is', null).where('created_at', '<', before).execute();

/** How many wait, how many skills there are, and how large everything is together. */
export async function countAll(tx: UserTx): Promise<{ reviews: number; skills: number; bytes: number }> {
  const { rows } = await sql<{ reviews: number; skills: number; bytes: number }>`
    select (count(*) filter (where skill_id is null))::integer as reviews,
      (count(distinct skill_id))::integer as skills, coalesce(sum(bytes), 0)::float8 as bytes
    from skill_versions`.execute(tx);
  return rows[0]!;
}

export const findVersion = (tx: UserTx, id: string) =>
  tx
    .selectFrom('skill_versions')
    .select([...HEAD, 'number', 'accepted_at'])
    .where('id', '=', id)
    .executeTakeFirst();

export const listVersions = (tx: UserTx, ids: readonly string[]) =>
  tx
    .selectFrom('skill_versions')
    .select(['id', 'bytes', 'source', 'accepted_at', 'report'])
    .select((eb) =>
      eb
        .selectFrom('skill_files')
        .whereRef('version_id', '=', 'skill_versions.id')
        .select(sql<number>`count(*)::integer`.as('count'))
        .as('files'),
    )
    .where('id', 'in', [...ids, ''])
    .execute();

export const listFiles = (tx: UserTx, versionId: string) =>
  tx
    .selectFrom('skill_files')
    .select(['path', 'bytes', 'sha256', 'kind'])
    .where('version_id', '=', versionId)
    .orderBy('path')
    .execute();

export const findFile = (tx: UserTx, versionId: string, path: string) =>
  tx
    .selectFrom('skill_files')
    .select(['path', 'bytes', 'kind', 'content'])
    .where('version_id', '=', versionId)
    .where('path', '=', path)
    .executeTakeFirst();

export interface Given {
  agentId: string;
  name: string;
  skillId: string;
  digest: string;
}

/** Which agents have which skills now. */
export async function listGiven(tx: UserTx): Promise<Given[]> {
  const { rows } = await sql<Given>`
    select agents.id as "agentId", agents.name, skill ->> 'id' as "skillId", skill ->> 'digest' as digest
    from agents cross join lateral (
      select definition from agent_definitions where agent_id = agents.id order by version desc limit 1
    ) newest cross join lateral jsonb_array_elements(coalesce(newest.definition -> 'skills', '[]')) skill
    order by agents.name, agents.id`.execute(tx);
  return rows;
}

/** Versions of a skill that nobody has, but for the newest few. */
export const removeOldVersions = (tx: UserTx, skillId: string, kept: number, digests: readonly string[]) =>
  tx
    .deleteFrom('skill_versions')
    .where('skill_id', '=', skillId)
    .where('digest', 'not in', [...digests, ''])
    .where(
      'id',
      'not in',
      tx
        .selectFrom('skill_versions')
        .select('id')
        .where('skill_id', '=', skillId)
        .orderBy('number', 'desc')
        .limit(kept),
    )
    .execute();

export async function removeSkill(tx: UserTx, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('skills').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}
