import { z } from 'zod';
import { endpoint } from '@troupe/contract';
import { compiled, createDatabase, type UserTx } from '@troupe/db';
import { createServer, memoryCounters, readSettings, serve, silentLog, systemClock } from '@troupe/kernel';
import { POOL, USER, userOf } from './shared.ts';

/** The route as the house writes it: guard, validation, one scoped query in one round trip. */
const listKeys = endpoint({
  service: 'web',
  method: 'GET',
  path: '/api/bench/keys',
  auth: 'session',
  summary: 'Keys of the user',
  tag: 'bench',
  reply: z.array(z.object({ id: z.string(), name: z.string(), preview: z.string() })),
});

const settings = readSettings({ NODE_ENV: 'production', LOG_LEVEL: 'silent' });
const db = createDatabase({ url: process.env['BENCH_DATABASE_URL'] ?? '', log: silentLog, poolSize: POOL });
const server = createServer({
  service: 'web',
  settings,
  log: silentLog,
  counters: memoryCounters(systemClock),
  secrets: { internalKey: 'bench', sessionSecret: 'bench' },
  url: 'http://127.0.0.1',
  accounts: {
    bySession: async (token) => {
      const id = userOf(token);
      return id === null ? null : { ...USER, id };
    },
    byKey: async () => null,
  },
  rateRules: [],
});
const keys = compiled((tx: UserTx) =>
  tx.selectFrom('api_keys').select(['id', 'name', 'preview']).orderBy('id').limit(20),
);
serve(server, listKeys, ({ user }) => keys(db.user(user.id)));
console.log(JSON.stringify({ address: await server.listen(0, 'WEB_PORT') }));
process.on('SIGTERM', () => void server.close().then(() => db.close()));
