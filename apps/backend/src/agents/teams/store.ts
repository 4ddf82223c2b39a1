import type { SystemTx, Tables } from '@troupe/db';
import type { AgentRow } from '@troupe/roster';
import type { Insertable } from 'kysely';

export const agentsOf = (tx: SystemTx, teamId: string): Promise<AgentRow[]> =>
  tx.selectFrom('agents').selectAll().where('team_id', '=', teamId).orderBy('created_at').execute();

/** A team is its owner's also while it has no agents. */
export const ownersOf = async (tx: SystemTx, teamId: string): Promise<string[]> =>
  (await tx.selectFrom('teams').select('user_id').where('id', '=', teamId).execute()).map(({ user_id }) => user_id);

export const addTeam = (tx: SystemTx, team: Insertable<Tables['teams']>) =>
  tx
    .insertInto('teams')
    .values(team)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
