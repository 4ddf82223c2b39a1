import { createHash } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import { peer } from '../lib/peers.ts';

/** The same route as it is often written: Express 5, pg, and one statement after the other. */

interface Reply {
  status: (code: number) => Reply;
  json: (body: unknown) => void;
}
interface Express {
  default: () => {
    get: (path: string, handler: (request: IncomingMessage, reply: Reply) => Promise<void>) => void;
    listen: (port: number, host: string, ready: () => void) => Server;
  };
}
interface Client {
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the query says what a row is
  query: <T>(text: string, values?: unknown[]) => Promise<{ rows: T[] }>;
  release: () => void;
}
interface Pg {
  default: {
    Pool: new (options: { connectionString: string; max: number }) => {
      query: Client['query'];
      connect: () => Promise<Client>;
      end: () => Promise<void>;
    };
  };
}
interface Key {
  id: string;
  name: string;
  preview: string;
  created_at: Date;
  last_used_at: Date | null;
  origins: string[];
}

const { default: express } = await peer<Express>('express');
const { default: pg } = await peer<Pg>('pg');
const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'] ?? '', max: 10 });
const app = express();

app.get('/api/keys', async (request, reply) => {
  const token = /svc-session=([0-9a-f]{64})/.exec(request.headers.cookie ?? '')?.[1] ?? '';
  const hash = createHash('sha256').update(token).digest('hex');
  const found = await pool.query<{ user_id: string }>(
    `select s.user_id, u.email, u.name, u.is_admin, u.email_verified_at, u.plan, u.subscription_status
       from sessions s join users u on u.id = s.user_id where s.token_hash = $1 and s.expires_at > now()`,
    [hash],
  );
  const user = found.rows[0]?.user_id;
  if (user === undefined) return reply.status(401).json({ error: 'Unauthorized' });
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query("select set_config('role', 'svc_user', true), set_config('app.user_id', $1, true)", [user]);
    const { rows } = await client.query<Key>(
      'select id, name, preview, created_at, last_used_at, origins from api_keys order by created_at desc',
    );
    await client.query('commit');
    reply.json({
      keys: rows.map(({ id, name, preview, created_at, last_used_at, origins }) => ({
        id,
        name,
        keyPreview: preview,
        createdAt: created_at.toISOString(),
        lastUsed: last_used_at?.toISOString() ?? null,
        origins,
      })),
    });
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
});

const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object')
    console.log(JSON.stringify({ address: `http://127.0.0.1:${address.port}` }));
});
process.on('SIGTERM', () => {
  server.closeAllConnections();
  server.close(() => void pool.end());
});
