import { pinSchema, type PinStore, type ToolkitDeps } from '@troupe/agent';
import type { Database } from '@troupe/db';
import { createCipher } from '@troupe/kernel';
import { createUserServers } from '@troupe/roster';
import { sql } from 'kysely';

export interface Whose {
  userId: string;
  agentId: string;
}

/** Every change is told by a signal; for so long one that did not arrive goes unnoticed. Asked at each step it cost a quarter of all chats. */
const KEPT_MS = 5_000;

/** How what opens an agent's MCP servers lies in the database: sealed, each value for that agent alone. */
export function createMcpKeeping(db: Database, sealKey: string) {
  // Once for all agents: each that is awake would have them for itself.
  const made = { db, cipher: createCipher(sealKey, 'mcp'), servers: createUserServers({ db, sealKey }) };
  return (whose: Whose) => keepingOf(made, whose);
}

interface Made {
  db: Database;
  cipher: ReturnType<typeof createCipher>;
  servers: ReturnType<typeof createUserServers>;
}

function keepingOf(
  { db, cipher, servers }: Made,
  { userId, agentId }: Whose,
): Required<Pick<ToolkitDeps, 'vault' | 'credentials' | 'owners'>> {
  const value = `mcp ${agentId}`;
  const access = (server: string): string => `mcp ${agentId} ${server}`;
  const owners = servers.access(userId);
  return {
    vault: {
      seal: (plain) => cipher.seal(plain, value).toString('base64'),
      open: (sealed) => cipher.open(Buffer.from(sealed, 'base64'), value),
    },
    owners: {
      list: () => servers.forAgent(userId, agentId),
      keptMs: KEPT_MS,
      // One that was removed meanwhile is no news.
      told: async (shared, tried) => void (await servers.told(userId, agentId, shared, tried)),
    },
    credentials: {
      alone: owners.alone,
      async load(server, shared) {
        if (shared !== undefined) return owners.load(shared);
        const row = await db
          .user(userId)
          .selectFrom('mcp_credentials')
          .select('sealed')
          .where('agent_id', '=', agentId)
          .where('server', '=', server)
          .executeTakeFirst();
        return row && cipher.open(row.sealed, access(server));
      },
      async save(server, text, shared) {
        if (shared !== undefined) return owners.save(shared, text);
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

/** What programs of an agent's servers, and of its owner's, are pinned to. */
export function pinKeeping(db: Database, { userId, agentId }: Whose): PinStore {
  const own = () => db.user(userId);
  const idOf = (server: string, shared: string | undefined): string => shared ?? `${agentId} ${server}`;
  return {
    async load(server, shared) {
      const row = await own()
        .selectFrom('mcp_pins')
        .select('pin')
        .where('id', '=', idOf(server, shared))
        .executeTakeFirst();
      return row && pinSchema.parse(row.pin);
    },
    async save(server, pin, { first, shared }) {
      const now = { pin: JSON.stringify(pin), digest: pin.digest, bytes: pin.bytes, updated_at: new Date() };
      const whose = shared === undefined ? { agent_id: agentId } : { server_id: shared };
      await own()
        .insertInto('mcp_pins')
        .values({ id: idOf(server, shared), user_id: userId, ...whose, ...now })
        .onConflict((conflict) => {
          const update = conflict.column('id').doUpdateSet(now);
          return first ? update.where(sql<boolean>`mcp_pins.pin ->> 'spec' <> ${pin.spec}`) : update;
        })
        .execute();
    },
    async remove(server) {
      await own().deleteFrom('mcp_pins').where('id', '=', idOf(server, undefined)).execute();
    },
    async bytes() {
      // A program that several servers name is there once.
      const { rows } = await sql<{ bytes: string | null }>`select sum(bytes) as bytes
        from (select distinct digest, bytes from mcp_pins where user_id = ${userId}) programs`.execute(own());
      return Number(rows[0]?.bytes ?? 0);
    },
  };
}

/** Programs that somebody's server names. */
export async function pinnedPrograms(db: Database): Promise<ReadonlySet<string>> {
  const rows = await db.system.selectFrom('mcp_pins').select('digest').distinct().execute();
  return new Set(rows.map(({ digest }) => digest));
}
