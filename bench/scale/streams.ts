import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { createPgStore } from '@troupe/agent';
import type { Database } from '@troupe/db';
import { sha256Hex, systemClock } from '@troupe/kernel';
import { createRoster } from '@troupe/roster';
import { testDatabase, testUser } from '@troupe/testing/database/server';
import { startService, type Service } from '../lib/child.ts';
import { finish, printTable } from '../lib/report.ts';
import { main, SETTINGS } from './setup.ts';

/**
 * Followers of as many conversations, each over a connection of its own to one backend, with the tokens of their agents:
 * what each costs that process in memory, and how long an event takes from being stored by another process to the byte at
 * its reader. BENCH_FOLLOWERS: another number than ten thousand.
 */

const FOLLOWERS = Number(process.env['BENCH_FOLLOWERS'] ?? 10_000);
const EACH = 20;
const USERS = Math.ceil(FOLLOWERS / EACH);
const OPENING = 100;
const EVENTS_PER_SECOND = 100;
const EVENTS_MS = 20_000;
const PATIENCE_MS = 60_000;

const agentOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const tokenOf = (n: number): string => sha256Hex(`token of ${n}`);
const addressOf = (n: number): string => `10.1.${n >> 8}.${n & 255}`;

type Store = ReturnType<typeof createPgStore>;
interface Conversation {
  user: number;
  id: string;
}

/** Runs it for each, so many at a time. */
async function eachOf<T>(all: readonly T[], atOnce: number, work: (one: T, index: number) => Promise<void>) {
  const queue = all.entries();
  const worker = async () => {
    for (const [index, one] of queue) await work(one, index);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
/** One that asks for no answer: agents at work on ten thousand would be measured, too. */
const word = [{ type: 'imported' as const, role: 'user' as const, content: 'a word' }];

/** Users with an agent and conversations each. */
async function build(db: Database): Promise<{ stores: Store[]; all: Conversation[] }> {
  const { of } = createRoster({ db, clock: systemClock, sealKey: 'seal-of-tokens' });
  const stores: Store[] = [];
  const all: Conversation[] = [];
  await eachOf(numbers(USERS), 8, async (n) => {
    const userId = `owner-${n}`;
    await testUser(db, userId, { plan: 'network' });
    await of(userId).add([{ id: agentOf(n), userId, name: 'A', plan: 'network', status: 'running', model: 'm' }], 1);
    stores[n] = createPgStore({ db, userId, agentId: agentOf(n) });
    for (let number = 0; number < EACH; number += 1) {
      const made = await stores[n].deliver({ to: { channel: 'api', key: String(number) }, events: word });
      all.push({ user: n, id: made?.session.id ?? '' });
    }
  });
  for (const n of numbers(USERS))
    await sql`update agents set token_hash = ${sha256Hex(tokenOf(n))} where id = ${agentOf(n)}`.execute(db.system);
  return { stores, all: all.slice(0, FOLLOWERS) };
}

/** Follows after the first word; `heard` is called with every event that comes. */
const follow = (
  backend: Service,
  { user, id }: Conversation,
  agent: Agent,
  heard: () => void,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${tokenOf(user)}`,
      accept: 'text/event-stream',
      'last-event-id': '1',
      'x-forwarded-for': addressOf(user),
    };
    const where = `${backend.address}/api/runtime/proxy/${agentOf(user)}/sessions/${id}/events`;
    request(where, { agent, headers }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`a follower was answered ${response.statusCode}`));
      response.on('data', (chunk: Buffer) => {
        if (chunk.includes('event: imported')) heard();
      });
      resolve(response);
    })
      .once('error', reject)
      .end();
  });

interface Held {
  heap: number;
  rss: number;
}

async function held(backend: Service, file: string): Promise<Held> {
  rmSync(file, { force: true });
  backend.signal('SIGUSR2');
  while (!existsSync(file)) await delay(50);
  return JSON.parse(readFileSync(file, 'utf8')) as Held;
}

/** Events in conversations of chance, at an even pace, and the milliseconds from being stored to being heard of. */
async function deliveries(all: readonly Conversation[], stores: readonly Store[], waits: Map<number, () => void>) {
  const taken: number[] = [];
  const under: Promise<void>[] = [];
  const send = async (n: number): Promise<void> => {
    const { user, id } = all[n]!;
    const heard = new Promise<number>((resolve) => waits.set(n, () => resolve(performance.now())));
    await stores[user]!.deliver({ to: { id }, events: word });
    const storedAt = performance.now();
    // It may be heard before whoever stored it knows that it is.
    taken.push(Math.max(0, (await heard) - storedAt));
    waits.delete(n);
  };
  const began = performance.now();
  for (let sent = 0; performance.now() - began < EVENTS_MS; sent += 1) {
    await delay(Math.max(0, began + (sent * 1000) / EVENTS_PER_SECOND - performance.now()));
    const n = Math.floor(Math.random() * all.length);
    // Whoever waits for one already is left alone: two events could come as one piece.
    if (!waits.has(n)) under.push(send(n));
  }
  await Promise.race([Promise.all(under), delay(PATIENCE_MS)]);
  if (waits.size > 0) throw new Error(`${waits.size} events were not heard`);
  return taken.toSorted((a, b) => a - b);
}

const at = (sorted: readonly number[], part: number): number => sorted[Math.floor(sorted.length * part)] ?? Infinity;

async function measure(backend: Service, db: Database, file: string) {
  const { stores, all } = await build(db);
  const agent = new Agent({ maxSockets: Infinity });
  const waits = new Map<number, () => void>();
  const open: IncomingMessage[] = [];
  const openAll = (some: readonly Conversation[]) =>
    eachOf(some, OPENING, async (one, n) => void open.push(await follow(backend, one, agent, () => waits.get(n)?.())));
  // Agents wake, and what is made at the first use is not a follower's.
  await openAll(all.filter((_, n) => n % EACH === 0));
  for (const stream of open.splice(0)) stream.destroy();
  await delay(2_000);
  const before = await held(backend, file);
  const began = performance.now();
  await openAll(all);
  const opened = (performance.now() - began) / 1000;
  const after = await held(backend, file);
  const taken = await deliveries(all, stores, waits);
  const cpu = backend.cpu();
  await delay(10_000);
  const idle = (backend.cpu() - cpu) / 10;
  for (const stream of open) stream.destroy();
  const each = (of: keyof Held) => (after[of] - before[of]) / all.length / 1024;
  return { heap: each('heap'), rss: each('rss'), median: at(taken, 0.5), p99: at(taken, 0.99), opened, idle };
}

export async function benchStreams(): Promise<void> {
  const { db, url, drop } = await testDatabase();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'troupe-bench-'));
  const file = path.join(dataDir, 'held.json');
  const env = { ...SETTINGS, BACKEND_PORT: '0', DATABASE_URL: url, DATA_DIR: dataDir, BENCH_HELD: file };
  const preload = new URL('held.ts', import.meta.url);
  const backend = await startService(main('backend'), { ...env, TRUST_PROXY: '1', MAX_CONNECTIONS: '12000' }, preload);
  try {
    const { heap, rss, median, p99, opened, idle } = await measure(backend, db, file);
    printTable(`${FOLLOWERS} followers in one process`, [
      { what: 'heap and buffers of each, kB', measured: heap },
      { what: 'resident memory of each, kB', measured: rss },
      { what: `an event, ${EVENTS_PER_SECOND} a second, median ms`, measured: median },
      { what: 'the same, p99 ms', measured: p99 },
      { what: 'until all had opened, s', measured: opened },
      { what: 'cores while nothing happens', measured: idle },
    ]);
    finish(
      'scale streams',
      [
        { figure: 'follower_heap_kb', value: heap, atMost: 20 },
        { figure: 'follower_resident_kb', value: rss, atMost: 20 },
        { figure: 'delivery_p99_ms', value: p99, atMost: 100 },
      ],
      { delivery_median_ms: median, opened_seconds: opened, idle_cores: idle },
    );
  } finally {
    await backend.stop();
    await drop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
