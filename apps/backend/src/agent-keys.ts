import { USER_COLUMNS, type Accounts } from '@troupe/accounts';
import type { Database } from '@troupe/db';
import { AppError, bearerToken, sha256Hex, type Server } from '@troupe/kernel';

const PREFIX = 'sk_';

/**
 * An agent that runs as a program of its own thinks through /v1 with its gateway token behind `sk_`. It is charged to its
 * owner and counted under its own id; nothing else of the platform opens to it.
 */
export function acceptAgentKeys({ guards }: Server, { db, accounts }: { db: Database; accounts: Accounts }): void {
  const { internalOrKey } = guards;

  async function agentOf(token: string) {
    const row = await db.system
      .selectFrom('agents')
      .innerJoin('users', 'users.id', 'agents.user_id')
      .select(USER_COLUMNS.map((column) => `users.${column}` as const))
      .select('agents.id as agent_id')
      .where('agents.token_hash', '=', sha256Hex(token))
      .where('agents.status', 'in', ['running', 'provisioning'])
      .executeTakeFirst();
    return row && { agentId: row.agent_id, user: accounts.toUser(row, null) };
  }

  guards.internalOrKey = (request, texts) => {
    const found = internalOrKey(request, texts);
    if (!(found instanceof Promise)) return found;
    return found.catch(async (error: unknown) => {
      const key = bearerToken(request);
      if (!(error instanceof AppError && error.status === 401) || !key?.startsWith(PREFIX)) throw error;
      const agent = await agentOf(key.slice(PREFIX.length));
      if (!agent) throw error;
      request.headers['x-agent-id'] = agent.agentId;
      return agent.user;
    });
  };
}
