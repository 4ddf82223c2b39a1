import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { compiled, createDatabase, type UserTx } from '@troupe/db';
import { silentLog } from '@troupe/kernel';
import { POOL, userOf } from './shared.ts';

/**
 * The least that Node can do for the same answer: its own HTTP server and the same scoped query by the same driver, without
 * routes, guards, limits, headers, ids, metrics and errors. What is beyond it needs another runtime, or more cores.
 */
const db = createDatabase({ url: process.env['BENCH_DATABASE_URL'] ?? '', log: silentLog, poolSize: POOL });
const keys = compiled((tx: UserTx) =>
  tx.selectFrom('api_keys').select(['id', 'name', 'preview']).orderBy('id').limit(20),
);

const server = createServer((request, response) => {
  const user = userOf(/svc-session=(\w+)/.exec(request.headers.cookie ?? '')?.[1] ?? '');
  if (user === null) return void response.writeHead(401).end();
  keys(db.user(user)).then(
    (rows) => {
      const text = JSON.stringify(rows);
      const head = { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(text) };
      response.writeHead(200, head).end(text);
    },
    (error: unknown) => {
      console.error(error);
      response.writeHead(500).end();
    },
  );
});
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
});
process.on('SIGTERM', () => {
  server.closeAllConnections();
  server.close(() => void db.close());
});
