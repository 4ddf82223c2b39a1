import { USER_COLUMNS } from '@troupe/accounts';
import type { SystemTx } from '@troupe/db';

/** The running agent whose gateway token has that hash, and its owner. */
export const agentByToken = (tx: SystemTx, tokenHash: string) =>
  tx
    .selectFrom('agents')
    .innerJoin('users', 'users.id', 'agents.user_id')
    .select(USER_COLUMNS.map((column) => `users.${column}` as const))
    .select(['agents.id as agent_id', 'agents.ai_provider', 'agents.provider_key'])
    .where('agents.token_hash', '=', tokenHash)
    .where('agents.status', 'in', ['running', 'provisioning'])
    .executeTakeFirst();
