import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@troupe/db';
import { testDatabase } from '@troupe/testing/database/server';
import { cookieOf } from '@troupe/testing/services/people';
import { addUser } from '@troupe/testing/services/users';
import { runChild, startService, type Service } from './lib/child.ts';
import { load, requestWriter } from './lib/load.ts';
import { finish, printTable } from './lib/report.ts';
import { median } from './lib/sides.ts';
import { flood, type Flooded } from './overload/flood.ts';
import { KEY, main, SETTINGS } from './scale/setup.ts';

/**
 * Ten times the chats a second that web and a backend hold, for a while, twice: what becomes of them, whether the services
 * say meanwhile that they live, how much memory they take, and when a chat takes as long as before again.
 */

const USERS = 100;
const CONNECTIONS = 32;
const HOLDS_MS = 8_000;
const FLOOD_MS = 12_000;
const TIMES = 10;
const MOST_CONNECTIONS = 8_000;
const BACK_MS = 20_000;
/** Until a service that rests has given back what it does not need: each flood begins alike. */
const REST_MS = 12_000;

interface Chatter {
  id: string;
  cookie: string;
}

async function makeAgents(db: Database, web: string): Promise<Chatter[]> {
  const made: Chatter[] = [];
  for (let n = 0; n < USERS; n += 1) {
    const cookie = await cookieOf(db, await addUser({ db }, { plan: 'network' }));
    const answer = await fetch(`${web}/api/agents/provision`, {
      method: 'POST',
      headers: { cookie, authorization: `Bearer ${KEY}`, 'content-type': 'application/json', 'x-client-ip': `u${n}` },
      body: JSON.stringify({ name: 'Agent' }),
    });
    if (answer.status !== 201) throw new Error(`no agent: ${answer.status} ${await answer.text()}`);
    const { agent } = (await answer.json()) as { agent: { id: string } };
    made.push({ id: agent.id, cookie });
  }
  return made;
}

/** Each conversation has one exchange: what is asked must not grow while it is measured. */
const chatOf = (chatters: readonly Chatter[], run: string) => (n: number) => {
  const { id, cookie } = chatters[n % USERS]!;
  const body = JSON.stringify({ agentId: id, message: 'Say something short.', topic: `${run}-${n}` });
  return { headers: { cookie, 'x-client-ip': `${run}-${n >> 2}` }, body };
};

/** The most memory that each has while `work` goes on, in MB. */
async function peaks<T>(services: readonly Service[], work: Promise<T>): Promise<{ result: T; most: number[] }> {
  const most = services.map(() => 0);
  const look = setInterval(() => services.forEach((one, n) => (most[n] = Math.max(most[n]!, one.memory()))), 250);
  try {
    return { result: await work, most };
  } finally {
    clearInterval(look);
  }
}

/** Milliseconds until five chats in a row take no more than twice what they took before. */
async function backAfter(ask: () => Promise<number>, normal: number): Promise<number> {
  const began = performance.now();
  for (let inRow = 0, since = began; performance.now() - began < BACK_MS;) {
    const taken = await ask();
    if (taken <= normal * 2) inRow += 1;
    else [inRow, since] = [0, performance.now()];
    if (inRow === 5) return since - began;
  }
  return Infinity;
}

interface Round extends Flooded {
  health: number;
  backSeconds: number;
  webMb: number;
  backendMb: number;
}

const p99 = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Infinity;

const HEADERS = { authorization: `Bearer ${KEY}` };

/** Floods the first of the services, and asks each how it is meanwhile. */
async function flooded(services: readonly Service[], perSecond: number, run: string, chatters: readonly Chatter[]) {
  const url = `${services[0]!.address}/api/chat`;
  const chat = chatOf(chatters, run);
  const write = requestWriter({ url, headers: HEADERS, body: '' });
  const probe = new URL('overload/probe.ts', import.meta.url);
  const probed = runChild<number[][]>(probe, [String(FLOOD_MS), ...services.map(({ address }) => address)]);
  const counts = await flood({
    port: Number(new URL(url).port),
    perSecond,
    milliseconds: FLOOD_MS,
    connections: MOST_CONNECTIONS,
    request: (n) => write(chat(n)),
  });
  return { ...counts, health: p99((await probed).flat()) };
}

async function measure(web: Service, backend: Service, chatters: readonly Chatter[]) {
  const url = `${web.address}/api/chat`;
  const held = (run: string, connections: number, milliseconds: number, calls = Infinity) =>
    load({ url, headers: HEADERS, body: '', connections, milliseconds, calls, vary: chatOf(chatters, run) });
  await held('warm', CONNECTIONS, HOLDS_MS);
  const { perSecond } = await held('holds', CONNECTIONS, HOLDS_MS);
  const normal = (await held('normal', 1, HOLDS_MS, 200)).median;
  const ask = async (): Promise<number> => {
    const began = performance.now();
    const { headers: own, body } = chatOf(chatters, `back${began}`)(0);
    const sent = { ...HEADERS, ...own, 'content-type': 'application/json' };
    // One that breaks off is one that is not answered.
    const status = await fetch(url, { method: 'POST', headers: sent, body }).then(
      async (answer) => (await answer.text(), answer.status),
      () => 0,
    );
    return status === 200 ? performance.now() - began : Infinity;
  };
  const rounds: Round[] = [];
  for (const run of ['first', 'second']) {
    await delay(REST_MS);
    const counts = flooded([web, backend], perSecond * TIMES, run, chatters);
    const over = delay(FLOOD_MS).then(() => backAfter(ask, normal));
    const { result, most } = await peaks([web, backend], Promise.all([counts, over]));
    rounds.push({ ...result[0], backSeconds: result[1] / 1000, webMb: most[0]!, backendMb: most[1]! });
  }
  return { perSecond, normal, rounds };
}

/** As much of the same for a server that only refuses: nobody is well sooner on this machine. */
async function bareHealth(perSecond: number, chatters: readonly Chatter[]): Promise<number> {
  const bare = await startService(new URL('overload/bare.ts', import.meta.url), {});
  try {
    return (await flooded([bare], perSecond, 'bare', chatters)).health;
  } finally {
    await bare.stop();
  }
}

function report({ perSecond, normal, rounds }: Awaited<ReturnType<typeof measure>>, bare: number): void {
  printTable(
    `${(perSecond * TIMES).toFixed(0)} chats a second where ${perSecond.toFixed(0)} are held (${normal.toFixed(0)} ms each)`,
    rounds.map(({ answered, shed, other, cut, unsent, health, backSeconds, webMb, backendMb }) => ({
      'answered/s': answered / (FLOOD_MS / 1000),
      shed,
      other: other + cut,
      unsent,
      'health p99 ms': health,
      'back after s': backSeconds,
      'web MB': webMb,
      'backend MB': backendMb,
    })),
  );
  const worst = (of: (round: Round) => number): number => Math.max(...rounds.map(of));
  const grown = (of: (round: Round) => number): number => of(rounds[1]!) / of(rounds[0]!);
  const last = rounds.find((round) => round.last !== '')?.last;
  if (last !== undefined) console.log(`\nanother answer: ${last}`);
  finish(
    'overload',
    [
      { figure: 'neither_answered_nor_shed', value: worst(({ other, cut }) => other + cut), atMost: 0 },
      { figure: 'health_p99_ms', value: worst(({ health }) => health), atMost: 100 },
      { figure: 'back_seconds', value: worst(({ backSeconds }) => backSeconds), atMost: 5 },
      { figure: 'web_memory_second_to_first', value: grown(({ webMb }) => webMb), atMost: 1.15 },
      { figure: 'backend_memory_second_to_first', value: grown(({ backendMb }) => backendMb), atMost: 1.15 },
    ],
    {
      bare_health_p99_ms: bare,
      holds_per_second: perSecond,
      answered_per_second: median(rounds.map(({ answered }) => answered)) / (FLOOD_MS / 1000),
      web_mb: worst(({ webMb }) => webMb),
      backend_mb: worst(({ backendMb }) => backendMb),
    },
  );
}

const database = await testDatabase({ poolSize: 5 });
const upstream = await startService(new URL('ai/upstream.ts', import.meta.url), { MODEL_MS: '50' });
const settings = { ...SETTINGS, DATABASE_URL: database.url, OPENROUTER_BASE_URL: `${upstream.address}/v1` };
const backend = await startService(main('backend'), { ...settings, BACKEND_PORT: '0' });
const web = await startService(main('web'), { ...settings, WEB_PORT: '0', BACKEND_URL: backend.address });
try {
  const chatters = await makeAgents(database.db, web.address);
  const found = await measure(web, backend, chatters);
  report(found, await bareHealth(found.perSecond * TIMES, chatters));
} finally {
  await web.stop();
  await backend.stop();
  await upstream.stop();
  await database.drop();
}
