import type { IncomingMessage, Server } from 'node:http';
import { peer } from '../lib/peers.ts';
import { POOL, userOf } from './shared.ts';

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
interface Pg {
  default: {
    Pool: new (options: { connectionString: string; max: number }) => {
      connect: () => Promise<{
        query: (text: string, values?: unknown[]) => Promise<{ rows: unknown[] }>;
        release: () => void;
      }>;
      end: () => Promise<void>;
    };
  };
}

const { default: express } = await peer<Express>('express');
const { default: pg } = await peer<Pg>('pg');

const pool = new pg.Pool({ connectionString: process.env['BENCH_DATABASE_URL'] ?? '', max: POOL });
const app = express();

app.get('/api/bench/keys', async (request, reply) => {
  const user = userOf(/svc-session=(\w+)/.exec(request.headers.cookie ?? '')?.[1] ?? '');
  if (user === null) return reply.status(401).json({ error: 'Unauthorized' });
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query("select set_config('role', 'svc_user', true), set_config('app.user_id', $1, true)", [user]);
    const { rows } = await client.query('select id, name, preview from api_keys order by id limit 20');
    await client.query('commit');
    reply.json(rows);
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
});

const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') {
    console.log(JSON.stringify({ address: `http://127.0.0.1:${address.port}` }));
  }
});
process.on('SIGTERM', () => {
  server.closeAllConnections();
  server.close(() => void pool.end());
});
