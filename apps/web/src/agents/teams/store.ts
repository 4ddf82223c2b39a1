import type { UserTx } from '@troupe/db';
import { sql } from 'kysely';

const PAGE_BYTES = 2n * 1024n * 1024n;
const COLUMNS = ['id', 'name', 'template', 'yaml', 'created_at'] as const;

/** A page of them, fewer than `limit` where they are large; `found` counts one more than the page where there is one. */
export const listTeamRows = (tx: UserTx, { limit, offset }: { limit: number; offset: number }) =>
  tx
    .with('page', (from) =>
      from
        .selectFrom('teams')
        .select(COLUMNS)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .limit(limit + 1)
        .offset(offset),
    )
    .with('sized', (from) =>
      from
        .selectFrom('page')
        .select(COLUMNS)
        .select(
          sql<bigint>`sum(octet_length(yaml)) over (order by created_at desc, id) - octet_length(yaml)`.as('before'),
        )
        .select(sql<number>`(count(*) over ())::integer`.as('found')),
    )
    .selectFrom('sized')
    .select([...COLUMNS, 'found'])
    .where('before', '<', PAGE_BYTES)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();

export const listTeamAgents = (tx: UserTx) =>
  tx
    .selectFrom('agents')
    .select(['id', 'name', 'status', 'team_id'])
    .where('team_id', 'is not', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();

/** The document of a team whose agents are gone again. */
export const removeTeam = (tx: UserTx, id: string) => tx.deleteFrom('teams').where('id', '=', id).execute();
