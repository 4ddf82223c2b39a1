import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Pool } from 'undici';
import { createDatabase, migrate, startEmbedded } from '@troupe/db';
import { silentLog } from '@troupe/kernel';
import { TOKEN, USER } from './http/shared.ts';
import { startService } from './lib/child.ts';
import { finish, printTable } from './lib/report.ts';
import { against, median } from './lib/sides.ts';

/** One scoped query behind a session: ours against Express 5 and pg on the same embedded server, in turns. */

const PATH = '/api/bench/keys';
const CONNECTIONS = 32;
const ROUNDS = 7;
/** Until both sides are compiled. */
const WARM_UP = 2;
const ROUND_MS = 2000;
const KEYS = 20;

const dataDir = mkdtempSync(path.join(tmpdir(), 'troupe-bench-'));
const database = await startEmbedded({ dataDir, log: silentLog });
await fill();
const env = { BENCH_DATABASE_URL: database.url, NODE_ENV: 'production' };
const sides = {
  ours: await startService(new URL('./http/ours.ts', import.meta.url), env),
  express: await startService(new URL('./http/express.ts', import.meta.url), env),
};
const pools = {
  ours: new Pool(sides.ours.address, { connections: CONNECTIONS }),
  express: new Pool(sides.express.address, { connections: CONNECTIONS }),
};

async function fill(): Promise<void> {
  await migrate({ url: database.url, log: silentLog });
  const db = createDatabase({ url: database.url, log: silentLog });
  const now = new Date();
  await db.asSystem(async (tx) => {
    for (const id of [USER.id, 'somebody-else']) {
      await tx
        .insertInto('users')
        .values({ id, email: `${id}@example.org`, name: id, referral_code: id, created_at: now, updated_at: now })
        .execute();
      await tx
        .insertInto('api_keys')
        .values(
          Array.from({ length: KEYS }, (_, index) => ({
            id: `${id}-${index}`,
            user_id: id,
            name: `key ${index}`,
            key_hash: `${id}-${index}`,
            preview: 'sk_0000000...',
            created_at: now,
          })),
        )
        .execute();
    }
  });
  await db.close();
}

async function request(pool: Pool) {
  const headers = { cookie: `svc-session=${TOKEN}` };
  const { statusCode, body } = await pool.request({ method: 'GET', path: PATH, headers });
  assert.equal(statusCode, 200);
  return body;
}

const ask = async (pool: Pool): Promise<unknown> => (await request(pool)).json();

async function round(pool: Pool): Promise<{ rate: number; p99: number }> {
  const times: number[] = [];
  const started = performance.now();
  const worker = async () => {
    while (performance.now() - started < ROUND_MS) {
      const asked = performance.now();
      // not parsed: the two cores are for the servers
      await (await request(pool)).dump();
      times.push(performance.now() - asked);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  const rate = (times.length / (performance.now() - started)) * 1000;
  return { rate, p99: times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN };
}

try {
  const answer = await ask(pools.ours);
  assert.deepEqual(answer, await ask(pools.express));
  assert.equal((answer as unknown[]).length, KEYS, 'the own keys and nobody else’s');
  const found = { ours: [] as { rate: number; p99: number }[], express: [] as { rate: number; p99: number }[] };
  for (let index = -WARM_UP; index < ROUNDS; index += 1) {
    for (const side of ['ours', 'express'] as const) {
      const result = await round(pools[side]);
      if (index >= 0) found[side].push(result);
    }
  }
  const of = (side: keyof typeof found, what: 'rate' | 'p99') => median(found[side].map((result) => result[what]));
  printTable(
    `One scoped query behind a session, ${CONNECTIONS} connections`,
    (['ours', 'express'] as const).map((side) => ({
      side: side === 'ours' ? 'ours' : 'Express 5 + pg',
      'requests/s': of(side, 'rate'),
      'p99 ms': of(side, 'p99'),
      'memory MB': sides[side].memory(),
    })),
  );
  const rates = (side: keyof typeof found) => found[side].map(({ rate }) => rate);
  finish('http', [{ figure: 'ratio_to_express', ...against(rates('ours'), rates('express')), atLeast: 2 }], {
    ours_rps: of('ours', 'rate'),
    express_rps: of('express', 'rate'),
  });
} finally {
  await Promise.all(Object.values(pools).map((pool) => pool.destroy()));
  await Promise.all(Object.values(sides).map((side) => side.stop()));
  await database.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
