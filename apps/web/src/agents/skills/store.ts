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
