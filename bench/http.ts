import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createDatabase, migrate, startEmbedded } from '@troupe/db';
import { silentLog } from '@troupe/kernel';
import { idOf, POOL, TOKEN, tokenOf, USER, USERS } from './http/shared.ts';
import { startService } from './lib/child.ts';
import { load, type Load, type LoadOptions } from './lib/load.ts';
import { pgbench } from './lib/pgbench.ts';
import { secondsOfTree } from './lib/processor.ts';
import { finish, printTable } from './lib/report.ts';
import { against, median } from './lib/sides.ts';

/**
 * One scoped query behind a session: ours against Express 5 and pg on the same embedded server, in turns, and against
 * pgbench, which has the same statements to send and nothing else to do. What Node could reach at most is measured, too: its
 * own HTTP server with the same query by the same driver.
 */

const PATH = '/api/bench/keys';
const CONNECTIONS = USERS;
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7);
/** Until both sides are compiled. */
const WARM_UP = Math.min(4, ROUNDS);
const ROUND_MS = 2000;
const KEYS = 20;

const dataDir = mkdtempSync(path.join(tmpdir(), 'troupe-bench-'));
const database = await startEmbedded({ dataDir, log: silentLog });
await fill();
const env = { BENCH_DATABASE_URL: database.url, NODE_ENV: 'production' };
const sides = {
  ours: await startService(new URL('./http/ours.ts', import.meta.url), env),
  express: await startService(new URL('./http/express.ts', import.meta.url), env),
  bare: await startService(new URL('./http/bare.ts', import.meta.url), env),
};
/** Ours once more, with a user of its own on each connection: nothing that it asks for can travel with anything else. */
type Side = keyof typeof sides | 'spread';
const serviceOf = (side: Side) => sides[side === 'spread' ? 'ours' : side];
const NAMES: Record<Side, string> = {
  ours: 'ours',
  spread: 'ours, a user for each connection',
  express: 'Express 5 + pg',
  bare: 'node:http alone, our driver',
};
const SIDES = Object.keys(NAMES) as Side[];
const cookieOf = (token: string) => ({ cookie: `svc-session=${token}` });
const headers = cookieOf(TOKEN);
const vary: LoadOptions['vary'] = (_n, connection) => ({ headers: cookieOf(tokenOf(connection)) });

async function fill(): Promise<void> {
  await migrate({ url: database.url, log: silentLog });
  const db = createDatabase({ url: database.url, log: silentLog });
  const now = new Date();
  await db.asSystem(async (tx) => {
    for (const id of Array.from({ length: USERS }, (_, user) => idOf(user))) {
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

async function ask(side: Side): Promise<unknown> {
  const response = await fetch(serviceOf(side).address + PATH, { headers });
  assert.equal(response.status, 200);
  return response.json();
}

interface Round extends Load {
  /** Of the processor, for a request: microseconds. */
  serverUs: number;
  databaseUs: number;
  /** Of who asks. */
  askingUs: number;
}

const seconds = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1e6;

async function round(side: Side): Promise<Round> {
  const used = () => [serviceOf(side).cpu(), secondsOfTree(database.pid()), seconds(process.cpuUsage())] as const;
  const [server, data, asking] = used();
  const url = serviceOf(side).address + PATH;
  const who = side === 'spread' ? { headers: {}, vary } : { headers };
  const result = await load({ url, ...who, connections: CONNECTIONS, milliseconds: ROUND_MS });
  const [serverAfter, dataAfter, askingAfter] = used();
  const each = (taken: number) => (taken / result.calls) * 1e6;
  return {
    ...result,
    serverUs: each(serverAfter - server),
    databaseUs: each(dataAfter - data),
    askingUs: each(askingAfter - asking),
  };
}

/** What ours sends: packages/db/src/scopes.ts. */
const STATEMENTS = [
  `select set_config('role', 'svc_user', true), set_config('app.user_id', '${USER.id}', true)`,
  'select "id", "name", "preview" from "api_keys" order by "id" limit 20',
];
const onlyAsking = () =>
  pgbench({ url: database.url, statements: STATEMENTS, clients: POOL, seconds: Math.ceil(ROUND_MS / 1000) });

try {
  const answer = await ask('ours');
  for (const other of ['express', 'bare'] as const) assert.deepEqual(answer, await ask(other));
  assert.equal((answer as unknown[]).length, KEYS, 'the own keys and nobody else’s');
  const found: Record<Side, Round[]> = { ours: [], spread: [], express: [], bare: [] };
  const alone: number[] = [];
  for (let index = -WARM_UP; index < ROUNDS; index += 1) {
    for (const side of SIDES) {
      const result = await round(side);
      if (index >= 0) found[side].push(result);
    }
    const rate = index >= 0 ? await onlyAsking() : undefined;
    if (rate !== undefined) alone.push(rate);
  }
  const of = (side: Side, what: Exclude<keyof Round, 'errors' | 'calls'>) =>
    median(found[side].map((result) => result[what]));
  printTable(
    `One scoped query behind a session, ${CONNECTIONS} connections`,
    SIDES.map((side) => ({
      side: NAMES[side],
      'requests/s': of(side, 'perSecond'),
      'p99 ms': of(side, 'p99'),
      'server µs': of(side, 'serverUs'),
      'PostgreSQL µs': of(side, 'databaseUs'),
      'who asks µs': of(side, 'askingUs'),
      'memory MB': serviceOf(side).memory(),
    })),
  );
  const rates = (side: Side) => found[side].map(({ perSecond }) => perSecond);
  finish(
    'http',
    [
      { figure: 'ratio_to_express', ...against(rates('ours'), rates('express')), atLeast: 3 },
      ...(alone.length > 0 ? [{ figure: 'ratio_to_pgbench', ...against(rates('ours'), alone), atLeast: 0.7 }] : []),
    ],
    {
      server_us: of('ours', 'serverUs'),
      database_us: of('ours', 'databaseUs'),
      bare_server_us: of('bare', 'serverUs'),
      asking_us: of('ours', 'askingUs'),
      a_user_each_to_express: against(rates('spread'), rates('express')).value,
      ratio_to_bare: against(rates('ours'), rates('bare')).value,
      bare_to_express: against(rates('bare'), rates('express')).value,
      ...(alone.length > 0 && { bare_to_pgbench: against(rates('bare'), alone).value }),
    },
  );
} finally {
  await Promise.all(Object.values(sides).map((side) => side.stop()));
  await database.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
