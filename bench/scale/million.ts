import { sql } from 'kysely';
import { createScheduler } from '@troupe/backend';
import type { Database } from '@troupe/db';
import { sha256Hex, silentLog, systemClock } from '@troupe/kernel';
import { testDatabase, testUser } from '@troupe/testing/database/server';
import { startService, type Service } from '../lib/child.ts';
import { load } from '../lib/load.ts';
import { finish, printTable } from '../lib/report.ts';
import { median, pairedRatio } from '../lib/sides.ts';
import { from, KEY, main, makeAgents, SETTINGS } from './setup.ts';

/**
 * What a million agents change: a start, an agent's first answer, its owner's list and a poll of the scheduler, in turns with a
 * database of a thousand. BENCH_AGENTS: another number than a million.
 */

const FEW = 1_000;
const MANY = Number(process.env['BENCH_AGENTS'] ?? 1_000_000);
const AGENTS_EACH = 100;
const AGENTS_PER_TASK = 10;
const BATCH = 50_000;
const ROUNDS = 7;
const STARTS = 3;
/** So many that the slowest alone is not the 99th of a hundred. */
const WAKES = 400;
/** Below what one owner may ask for in a minute, over all rounds: a thousand agents have ten owners. */
const LISTS = 80;
const POLLS = 20;
const TEMPLATE = 'template-0';

interface House {
  agents: number;
  db: Database;
  url: string;
  /** How many agents a second were made. */
  made: number;
  drop: () => Promise<void>;
}
interface Running {
  backend: Service;
  web: Service;
}
interface Round {
  wake: number;
  wakeP99: number;
  list: number;
  poll: number;
}

const owner = (n: number): string => `owner-${n}`;
const token = (user: string): string => sha256Hex(`session of ${user}`);

/** One is made by the platform; the others are rows as those, of owners with a hundred each. */
async function build(agents: number, upstream: Service): Promise<House> {
  const { db, url, drop } = await testDatabase();
  await testUser(db, owner(0));
  const backend = await startService(main('backend'), settings(url, upstream));
  await makeAgents(backend.address, 'template', 1);
  await backend.stop();
  await people(db, agents / AGENTS_EACH);
  const started = performance.now();
  for (let begin = 0; begin < agents; begin += BATCH) await clone(db, begin, Math.min(begin + BATCH, agents) - 1);
  const made = agents / ((performance.now() - started) / 1000);
  await sql`insert into scheduled_tasks (id, user_id, agent_id, name, cron_schedule, prompt, enabled, next_run, created_at, updated_at)
    select 't' || n, 'owner-' || n * ${AGENTS_PER_TASK} / ${AGENTS_EACH}, 'agent-' || n * ${AGENTS_PER_TASK}, 'T',
      '0 0 29 2 *', 'go', true, now() + interval '1 day' + n * interval '1 second', now(), now()
    from generate_series(0, ${agents / AGENTS_PER_TASK - 1}) n`.execute(db.system);
  await db.asSystem(async (tx) => {
    await sql`set local role none`.execute(tx);
    await sql`analyze`.execute(tx);
  });
  return { agents, db, url, made, drop };
}

async function people(db: Database, count: number): Promise<void> {
  await sql`insert into users (id, email, name, plan, subscription_status, referral_code, created_at, updated_at)
    select 'owner-' || n, 'owner-' || n || '@example.org', 'Owner', 'network', 'active', 'R' || n, now(), now()
    from generate_series(0, ${count - 1}) n on conflict do nothing`.execute(db.system);
  await sql`insert into sessions (id, user_id, token_hash, device, ip, created_at, last_seen_at, expires_at)
    select 's' || n, 'owner-' || n,
      encode(sha256(encode(sha256(('session of owner-' || n)::bytea), 'hex')::bytea), 'hex'),
      'Firefox on Linux', '127.0.0.1', now(), now(), now() + interval '30 days'
    from generate_series(0, ${count - 1}) n`.execute(db.system);
}

/** Every column of the template's rows but those that tell one agent from another. */
async function clone(db: Database, first: number, last: number): Promise<void> {
  for (const [table, key] of [
    ['agents', 'id'],
    ['agent_definitions', 'agent_id'],
  ] as const) {
    const own = {
      [key]: `'agent-' || n`,
      user_id: `'owner-' || n / ${AGENTS_EACH}`,
      ...(table === 'agents' && { name: `'Agent ' || n`, token_hash: `md5('token ' || n)` }),
    } as Record<string, string>;
    const { rows } = await sql<{ name: string }>`select column_name as name from information_schema.columns
      where table_schema = 'public' and table_name = ${table} and is_generated = 'NEVER'`.execute(db.system);
    const names = rows.map(({ name }) => name);
    await sql`insert into ${sql.table(table)} (${sql.join(names.map((name) => sql.ref(name)))})
      select ${sql.join(names.map((name) => (own[name] === undefined ? sql.ref(`t.${name}`) : sql.raw(own[name]))))}
      from ${sql.table(table)} t, generate_series(${first}::int, ${last}::int) n
      where t.${sql.ref(key)} = ${TEMPLATE}`.execute(db.system);
  }
}

const settings = (url: string, upstream: Service) => ({
  ...SETTINGS,
  BACKEND_PORT: '0',
  DATABASE_URL: url,
  OPENROUTER_BASE_URL: `${upstream.address}/v1`,
});

const startBackend = ({ url }: House, upstream: Service): Promise<Service> =>
  startService(main('backend'), settings(url, upstream));

async function startMs(house: House, upstream: Service): Promise<number> {
  const started = performance.now();
  const backend = await startBackend(house, upstream);
  const ms = performance.now() - started;
  await backend.stop();
  return ms;
}

async function run(house: House, upstream: Service): Promise<Running> {
  const backend = await startBackend(house, upstream);
  const web = await startService(main('web'), {
    ...SETTINGS,
    WEB_PORT: '0',
    DATABASE_URL: house.url,
    BACKEND_URL: backend.address,
    TRUST_PROXY: '1',
  });
  return { backend, web };
}

let asked = 0;

async function round(house: House, { backend, web }: Running, n: number): Promise<Round> {
  // No agent is woken twice, and they are far from each other.
  const agent = (k: number): number => (((n * WAKES + k) * 7919) % (house.agents / AGENTS_EACH)) * AGENTS_EACH + n;
  const wakes = await load({
    url: backend.address,
    headers: { authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Say something short about the sea.' }] }),
    connections: 1,
    milliseconds: 60_000,
    calls: Math.min(WAKES, house.agents / AGENTS_EACH),
    vary: (k) => ({ path: `/api/runtime/proxy/agent-${agent(k)}/v1/chat/completions`, headers: from(asked++ * 4) }),
  });
  const lists = await load({
    url: `${web.address}/api/agents`,
    headers: {},
    connections: 1,
    milliseconds: 60_000,
    calls: LISTS,
    // As behind a proxy, each from elsewhere: limits count by address.
    vary: (k) => ({
      headers: {
        cookie: `svc-session=${token(owner((k * 31 + n) % (house.agents / AGENTS_EACH)))}`,
        'x-forwarded-for': `10.0.${n}.${k % 250}`,
      },
    }),
  });
  return { wake: wakes.median, wakeP99: wakes.p99, list: lists.median, poll: await pollMs(house.db) };
}

async function pollMs(db: Database): Promise<number> {
  const wake = { execute: async () => 'done', heartbeat: async () => {} };
  const scheduler = createScheduler({ db, log: silentLog, clock: systemClock, wake });
  const times: number[] = [];
  for (let n = 0; n < POLLS; n += 1) {
    const started = performance.now();
    await scheduler.cycle();
    times.push(performance.now() - started);
  }
  return median(times);
}

export async function benchMillion(): Promise<void> {
  const upstream = await startService(new URL('../ai/upstream.ts', import.meta.url), {});
  const few = await build(FEW, upstream);
  const many = await build(MANY, upstream);
  const starts = { few: [] as number[], many: [] as number[] };
  for (let n = 0; n <= STARTS; n += 1)
    for (const [name, house] of [
      ['few', few],
      ['many', many],
    ] as const) {
      const ms = await startMs(house, upstream);
      // The first one of each warms the machine's caches.
      if (n > 0) starts[name].push(ms);
    }
  const running = { few: await run(few, upstream), many: await run(many, upstream) };
  const found = { few: [] as Round[], many: [] as Round[] };
  for (let n = 0; n <= ROUNDS; n += 1)
    for (const [name, house] of [
      ['few', few],
      ['many', many],
    ] as const) {
      const result = await round(house, running[name], n);
      if (n > 0) found[name].push(result);
    }
  const of = (name: 'few' | 'many', what: keyof Round) => found[name].map((one) => one[what]);
  const ratio = (what: keyof Round): number => pairedRatio(of('many', what), of('few', what));
  printTable(
    'Milliseconds',
    (['few', 'many'] as const).map((name) => ({
      agents: String(name === 'few' ? FEW : MANY),
      start: median(starts[name]),
      'first answer': median(of(name, 'wake')),
      'its p99': median(of(name, 'wakeP99')),
      'list of 100': median(of(name, 'list')),
      poll: median(of(name, 'poll')),
      'made a second': name === 'few' ? few.made : many.made,
    })),
  );
  for (const { backend, web } of Object.values(running)) {
    await web.stop();
    await backend.stop();
  }
  await upstream.stop();
  await few.drop();
  await many.drop();
  finish('scale million', [
    { figure: 'made_per_second', value: many.made, atLeast: 2_000 },
    { figure: 'wake_p99_ms', value: median(of('many', 'wakeP99')), atMost: 20 },
    { figure: 'wake_to_few', value: ratio('wake'), atMost: 1.5 },
    { figure: 'list_to_few', value: ratio('list'), atMost: 1.5 },
    { figure: 'poll_to_few', value: ratio('poll'), atMost: 1.5 },
    { figure: 'start_to_few', value: pairedRatio(starts.many, starts.few), atMost: 1.5 },
  ]);
}
