import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { createDatabase, migrate, startEmbedded } from '@troupe/db';
import { sha256Hex, silentLog } from '@troupe/kernel';
import { startService, type Service } from './lib/child.ts';
import { load, type Load } from './lib/load.ts';
import { finish, printTable } from './lib/report.ts';
import { against, median } from './lib/sides.ts';

/** GET /api/keys with the cookie: session check and one scoped read, with few users and with many, ours and naive in turns. */

const FEW = 100;
const MANY = 100_000;
const CONNECTIONS = 32;
/** Short turns: whatever else the machine does hits all of them. */
const ROUNDS = 20;
const ROUND_MS = 300;
/** Until both sides are compiled. */
const WARM_UP = 12;

/** Made beforehand: the two cores are for the servers. */
const TOKENS = Array.from({ length: MANY }, (_, index) => sha256Hex(`session ${index}`));

/** Users 0 to size-1, each with a session and five keys. */
async function fill(url: string, size: number): Promise<void> {
  await migrate({ url, log: silentLog });
  const db = createDatabase({ url, log: silentLog, statementTimeoutMs: 300_000 });
  await db.asSystem(async (tx) => {
    await sql`insert into users (id, email, name, referral_code, created_at, updated_at)
      select 'u' || n, 'u' || n || '@example.org', 'u' || n, 'R' || n, now(), now()
      from generate_series(0, ${size - 1}) n`.execute(tx);
    await sql`insert into sessions (id, user_id, token_hash, device, ip, created_at, last_seen_at, expires_at)
      select 's' || n, 'u' || n,
        encode(sha256(encode(sha256(('session ' || n)::bytea), 'hex')::bytea), 'hex'),
        'Firefox on Linux', '127.0.0.1', now(), now(), now() + interval '30 days'
      from generate_series(0, ${size - 1}) n`.execute(tx);
    await sql`insert into api_keys (id, user_id, name, preview, key_hash, created_at)
      select n || '-' || k, 'u' || n, 'key ' || k, 'sk_0000000...', n || '-' || k, now() - k * interval '1 hour'
      from generate_series(0, ${size - 1}) n, generate_series(1, 5) k`.execute(tx);
    // Seen a moment ago, as by people at work: moving that is not part of what is compared.
    await sql`update sessions set last_seen_at = clock_timestamp() + interval '10 seconds'`.execute(tx);
    await sql`set local role none`.execute(tx);
    await sql`analyze`.execute(tx);
  });
  await db.close();
}

const cookieOf = (index: number) => ({ cookie: `svc-session=${TOKENS[index]}` });

async function ask({ address }: Service, index: number): Promise<unknown> {
  const response = await fetch(`${address}/api/keys`, { headers: cookieOf(index) });
  assert.equal(response.status, 200);
  return response.json();
}

const round = ({ address }: Service, size: number): Promise<Load> =>
  load({
    url: `${address}/api/keys`,
    headers: {},
    connections: CONNECTIONS,
    milliseconds: ROUND_MS,
    vary: () => ({ headers: cookieOf(Math.floor(Math.random() * size)) }),
  });

interface Side {
  name: string;
  users: number;
  service: Service;
  rounds: Load[];
}

const closing: (() => Promise<unknown>)[] = [];

/** Both programs on a server of their own, which holds that many users. */
async function open(users: number): Promise<{ ours: Side; naive: Side }> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'troupe-bench-'));
  closing.push(async () => rmSync(dataDir, { recursive: true, force: true }));
  const server = await startEmbedded({ dataDir, log: silentLog });
  closing.push(server.stop);
  await fill(server.url, users);
  const side = async (name: string, program: string): Promise<Side> => {
    const env = { DATABASE_URL: server.url, NODE_ENV: 'production' };
    const service = await startService(new URL(program, import.meta.url), env);
    closing.push(service.stop);
    return { name, users, service, rounds: [] };
  };
  const ours = await side('ours', './session/ours.ts');
  const naive = await side('Express 5 + pg', './session/naive.ts');
  const answer = (await ask(ours.service, 7)) as { keys: unknown[] };
  assert.deepEqual(answer, await ask(naive.service, 7));
  assert.equal(answer.keys.length, 5, 'the own keys and nobody else’s');
  return { ours, naive };
}

const rates = ({ rounds }: Side): number[] => rounds.map(({ perSecond }) => perSecond);
const ratio = (a: Side, b: Side) => against(rates(a), rates(b));

try {
  const few = await open(FEW);
  const many = await open(MANY);
  const sides = [few.ours, few.naive, many.ours, many.naive];
  for (let index = -WARM_UP; index < ROUNDS; index += 1) {
    for (const side of sides) {
      const result = await round(side.service, side.users);
      if (index >= 0) side.rounds.push(result);
    }
  }
  printTable(
    `GET /api/keys with the session cookie, ${CONNECTIONS} connections`,
    sides.map((side) => ({
      side: side.name,
      users: String(side.users),
      'requests/s': median(rates(side)),
      'p99 ms': median(side.rounds.map(({ p99 }) => p99)),
      'memory MB': side.service.memory(),
    })),
  );
  finish(
    'session',
    [
      { figure: 'ratio_few', ...ratio(few.ours, few.naive), atLeast: 3 },
      { figure: 'ratio_many', ...ratio(many.ours, many.naive), atLeast: 3 },
      { figure: 'many_to_few', ...ratio(many.ours, few.ours), atLeast: 0.8 },
    ],
    { ours_rps: median(rates(many.ours)), naive_rps: median(rates(many.naive)) },
  );
} finally {
  for (const close of closing.reverse()) await close();
}
