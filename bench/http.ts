import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createDatabase, migrate, startEmbedded } from '@troupe/db';
import { silentLog } from '@troupe/kernel';
import { TOKEN, USER } from './http/shared.ts';
import { startService } from './lib/child.ts';
import { load, type Load } from './lib/load.ts';
import { finish, printTable } from './lib/report.ts';
import { against, median } from './lib/sides.ts';

/** One scoped query behind a session: ours against Express 5 and pg on the same embedded server, in turns. */

const PATH = '/api/bench/keys';
const CONNECTIONS = 32;
const ROUNDS = 7;
/** Until both sides are compiled. */
const WARM_UP = 4;
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
const headers = { cookie: `svc-session=${TOKEN}` };

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

async function ask(side: keyof typeof sides): Promise<unknown> {
  const response = await fetch(sides[side].address + PATH, { headers });
  assert.equal(response.status, 200);
  return response.json();
}

const round = (side: keyof typeof sides): Promise<Load> =>
  load({ url: sides[side].address + PATH, headers, connections: CONNECTIONS, milliseconds: ROUND_MS });

try {
  const answer = await ask('ours');
  assert.deepEqual(answer, await ask('express'));
  assert.equal((answer as unknown[]).length, KEYS, 'the own keys and nobody else’s');
  const found = { ours: [] as Load[], express: [] as Load[] };
  for (let index = -WARM_UP; index < ROUNDS; index += 1) {
    for (const side of ['ours', 'express'] as const) {
      const result = await round(side);
      if (index >= 0) found[side].push(result);
    }
  }
  const of = (side: keyof typeof found, what: 'perSecond' | 'p99') => median(found[side].map((result) => result[what]));
  printTable(
    `One scoped query behind a session, ${CONNECTIONS} connections`,
    (['ours', 'express'] as const).map((side) => ({
      side: side === 'ours' ? 'ours' : 'Express 5 + pg',
      'requests/s': of(side, 'perSecond'),
      'p99 ms': of(side, 'p99'),
      'memory MB': sides[side].memory(),
    })),
  );
  const rates = (side: keyof typeof found) => found[side].map(({ perSecond }) => perSecond);
  finish('http', [{ figure: 'ratio_to_express', ...against(rates('ours'), rates('express')), atLeast: 2 }], {
    ours_rps: of('ours', 'perSecond'),
    express_rps: of('express', 'perSecond'),
  });
} finally {
  await Promise.all(Object.values(sides).map((side) => side.stop()));
  await database.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
