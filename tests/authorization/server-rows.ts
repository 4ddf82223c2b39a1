import type { Database } from '@troupe/db';
import type { Marks } from './marks.ts';

type Ask = (method: string, path: string, body?: unknown) => Promise<unknown>;

/** An MCP server of the owner's, how it is with an agent, and what its program is pinned to. */
export async function addUserServer(
  db: Database,
  ask: Ask,
  { mark, secret }: Marks,
  { userId, agentId, url }: { userId: string; agentId: string; url: string },
) {
  const userServer = mark('userServer');
  const headers = { 'x-key': secret('userServerHeader') };
  await ask('PUT', `/api/mcp-servers/${userServer}`, { url, headers });
  const { id } = await db.system
    .updateTable('mcp_servers')
    .set({ access: Buffer.from(mark('serverAccess')) })
    .where('user_id', '=', userId)
    .returning('id')
    .executeTakeFirstOrThrow();
  const of = { user_id: userId, server_id: id };
  await db.system
    .insertInto('mcp_server_agents')
    .values({ ...of, agent_id: agentId, state: 'failed', error: mark('serverError'), tried_at: new Date() })
    .execute();
  const pin = { spec: mark('serverPin') };
  const digest = 'ab'.repeat(32);
  await db.system
    .insertInto('mcp_pins')
    .values({ ...of, id, pin: JSON.stringify(pin), digest, bytes: 1, updated_at: new Date() })
    .execute();
  return { userServer, userServerId: id };
}
