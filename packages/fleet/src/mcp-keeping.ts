import type { ToolkitDeps } from '@troupe/agent';
import type { Database } from '@troupe/db';
import { createCipher } from '@troupe/kernel';

export interface Whose {
  userId: string;
  agentId: string;
}

/** How what opens an agent's MCP servers lies in the database: sealed, each value for that agent alone. */
export function mcpKeeping(
  db: Database,
  { userId, agentId }: Whose,
  sealKey: string,
): Required<Pick<ToolkitDeps, 'vault' | 'credentials'>> {
  const cipher = createCipher(sealKey, 'mcp');
  const value = `mcp ${agentId}`;
  const access = (server: string): string => `mcp ${agentId} ${server}`;
  return {
    vault: {
      seal: (plain) => cipher.seal(plain, value).toString('base64'),
      open: (sealed) => cipher.open(Buffer.from(sealed, 'base64'), value),
    },
    credentials: {
      async load(server) {
        const row = await db
          .user(userId)
          .selectFrom('mcp_credentials')
          .select('sealed')
          .where('agent_id', '=', agentId)
          .where('server', '=', server)
          .executeTakeFirst();
        return row && cipher.open(row.sealed, access(server));
      },
      async save(server, text) {
        const own = db.user(userId);
        if (text === undefined) {
          await own
            .deleteFrom('mcp_credentials')
            .where('agent_id', '=', agentId)
            .where('server', '=', server)
            .execute();
          return;
        }
        const sealed = cipher.seal(text, access(server));
        const updated_at = new Date();
        await own
          .insertInto('mcp_credentials')
          .values({ user_id: userId, agent_id: agentId, server, sealed, updated_at })
          .onConflict((conflict) => conflict.columns(['agent_id', 'server']).doUpdateSet({ sealed, updated_at }))
          .execute();
      },
    },
  };
}
