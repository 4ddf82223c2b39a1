import { setTimeout as delay } from 'node:timers/promises';
import { testDatabase } from '@troupe/testing/database/server';
import pg from 'pg';
import { startService } from './lib/child.ts';
import { load, type Load } from './lib/load.ts';
import { finish, printTable } from './lib/report.ts';
import { against, median } from './lib/sides.ts';

/**
 * A thousand agents in one backend process: made, asleep, woken; and chats with one of them through its gateway, with
 * history, memory and metering on, against a Mastra agent with its history and memory on. One model for both, over HTTP, at 0 ms.
 * BENCH_SECONDS: length of one side's part of a round.
 */

const AGENTS = Number(process.env['BENCH_AGENTS'] ?? 1000);
const MILLISECONDS = Number(process.env['BENCH_SECONDS'] ?? 4) * 1000;
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const CONNECTIONS = 8;
/** Exchanges in one conversation: history is read and grows, on both sides alike. */
const EXCHANGES = 10;
const KEY = 'bench-internal-key-0123456789';
const QUESTION = 'Say something short about the sea, and then something shorter.';
const FACTS = [
  'The user lives by the sea',
  'The user likes short answers',
  'The boat is called Marie',
  'Tea, no coffee',
];

const database = await testDatabase();
const upstream = await startService(new URL('ai/upstream.ts', import.meta.url), {});
const mastra = await startService(new URL('agents/mastra.ts', import.meta.url), {
  NODE_ENV: 'production',
  MASTRA_TELEMETRY_DISABLED: '1',
  UPSTREAM: upstream.address,
});
const backend = await startService(
  new URL('../apps/backend/src/main.ts', import.meta.url),
  {
    NODE_ENV: 'production',
    BACKEND_PORT: '0',
    DATABASE_URL: database.url,
    INTERNAL_API_KEY: KEY,
    SESSION_SECRET: 'bench-session-secret-0123456789',
    WALLET_ENCRYPTION_KEY: 'bench-wallet-key-0123456789',
    OPENROUTER_API_KEY: 'bench',
    OPENROUTER_BASE_URL: `${upstream.address}/v1`,
  },
  new URL('agents/collect.ts', import.meta.url),
);

/** Calls come for many end users, as web passes them on: limits count each by itself. */
let users = 0;
const endUser = (): Record<string, string> => ({ 'x-client-ip': `user-${Math.floor(users++ / 4)}` });
const headers = { authorization: `Bearer ${KEY}` };
const chatPath = (agentId: string): string => `/api/runtime/proxy/${agentId}/v1/chat/completions`;

const make = (prefix: string, count: number): Promise<Load> =>
  load({
    url: `${backend.address}/api/deployments`,
    headers,
    body: '',
    connections: CONNECTIONS,
    milliseconds: 120_000,
    calls: count,
    vary: (n) => ({
      headers: endUser(),
      body: JSON.stringify({ agentId: `${prefix}-${n}`, config: { name: `Agent ${n}`, plan: 'solo' } }),
    }),
  });

const wake = (prefix: string, count: number): Promise<Load> =>
  load({
    url: backend.address,
    headers,
    body: JSON.stringify({ messages: [{ role: 'user', content: QUESTION }] }),
    connections: 1,
    milliseconds: 120_000,
    calls: count,
    vary: (n) => ({ path: chatPath(`${prefix}-${n}`), headers: endUser() }),
  });

async function memory(): Promise<number> {
  await delay(1_500);
  backend.signal('SIGUSR2');
  await delay(1_500);
  return backend.memory();
}

/** Conversations of their own for each connection. */
function conversations(): (connection: number) => string {
  const said = new Map<number, number>();
  const run = Math.random().toString(36).slice(2);
  return (connection) => {
    const count = said.get(connection) ?? 0;
    said.set(connection, count + 1);
    return `${run}-${connection}-${Math.floor(count / EXCHANGES)}`;
  };
}

const sides = {
  ours: (milliseconds: number): Promise<Load> => {
    const talk = conversations();
    return load({
      url: backend.address + chatPath('talker-0'),
      headers,
      body: '',
      connections: CONNECTIONS,
      milliseconds,
      vary: (_, connection) => ({
        headers: endUser(),
        body: JSON.stringify({ messages: [{ role: 'user', content: QUESTION }], user: talk(connection) }),
      }),
    });
  },
  mastra: (milliseconds: number): Promise<Load> => {
    const talk = conversations();
    return load({
      url: mastra.address,
      headers: {},
      body: '',
      connections: CONNECTIONS,
      milliseconds,
      vary: (_, connection) => ({ body: JSON.stringify({ thread: talk(connection), message: QUESTION }) }),
    });
  },
};

async function compareChats(): Promise<Record<keyof typeof sides, Load[]>> {
  const results: Record<keyof typeof sides, Load[]> = { ours: [], mastra: [] };
  const names = Object.keys(results) as (keyof typeof sides)[];
  for (const name of names) await sides[name](MILLISECONDS * 2);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of names) results[name].push(await sides[name](MILLISECONDS));
  }
  return results;
}

async function analyze(): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('analyze');
  await client.end();
}

/** Memory has something to find. */
async function teach(agentId: string): Promise<void> {
  for (const [index, content] of FACTS.entries()) {
    const response = await fetch(`${backend.address}/api/runtime/proxy/${agentId}/memory`, {
      method: 'PUT',
      headers: { ...headers, ...endUser(), 'content-type': 'application/json' },
      body: JSON.stringify({ key: `fact ${index}`, content }),
    });
    if (!response.ok) throw new Error(`memory was not stored: ${response.status}`);
  }
}

try {
  // Until the compiler has seen enough: a service runs for days, a bench for seconds.
  await make('warm', 1000);
  await wake('warm', 300);
  // As the server does by itself within a minute: plans that were made on empty tables are no plans.
  await analyze();
  const before = await memory();
  const made = await make('agent', AGENTS);
  const asleep = await memory();
  const woken = await wake('agent', AGENTS);
  const awake = await memory();
  printTable(`${AGENTS} agents`, [
    { what: 'made', 'per second': made.perSecond, 'median ms': made.median, 'p99 ms': made.p99 },
    {
      what: 'woken, with the first answer',
      'per second': woken.perSecond,
      'median ms': woken.median,
      'p99 ms': woken.p99,
    },
  ]);
  printTable('Memory of the backend process', [
    { when: 'before', MB: before },
    { when: 'with the agents, asleep', MB: asleep },
    { when: 'with the agents, all awake', MB: awake },
  ]);
  await make('talker', 1);
  await teach('talker-0');
  const chats = await compareChats();
  const rates = (name: keyof typeof chats) => chats[name].map((each) => each.perSecond);
  const perSecond = (name: keyof typeof chats) => median(rates(name));
  const rows = (Object.keys(chats) as (keyof typeof chats)[]).map((side) => ({
    side,
    'per second': perSecond(side),
    'median ms': median(chats[side].map((each) => each.median)),
    'p99 ms': median(chats[side].map((each) => each.p99)),
    errors: chats[side].reduce((sum, each) => sum + each.errors, 0),
  }));
  printTable(`Chats, ${CONNECTIONS} connections, ${EXCHANGES} exchanges a conversation`, rows);
  finish(
    'agents',
    [
      { figure: 'made_per_second', value: made.perSecond, atLeast: 200 },
      { figure: 'mb_per_idle_agent', value: Math.max(0, asleep - before, awake - before) / AGENTS, atMost: 0.1 },
      { figure: 'wake_ms', value: woken.median, atMost: 60 },
      { figure: 'chats_vs_mastra', ...against(rates('ours'), rates('mastra')), atLeast: 6 },
    ],
    { chats_per_second: perSecond('ours'), mastra_per_second: perSecond('mastra') },
  );
} finally {
  await backend.stop();
  await mastra.stop();
  await upstream.stop();
  await database.drop();
}
