import type { UserTx } from '@troupe/db';

export const listTeamRows = (tx: UserTx) =>
  tx.selectFrom('teams').selectAll().orderBy('created_at', 'desc').limit(1000).execute();

export const listTeamAgents = (tx: UserTx) =>
  tx
    .selectFrom('agents')
    .select(['id', 'name', 'status', 'team_id'])
    .where('team_id', 'is not', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
