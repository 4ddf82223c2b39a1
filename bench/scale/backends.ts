import { availableParallelism, cpus } from 'node:os';
import pg from 'pg';
import { testDatabase } from '@troupe/testing/database/server';
import { startService, type Service } from '../lib/child.ts';
import { load, type Load } from '../lib/load.ts';
import { finish, printTable } from '../lib/report.ts';
import { from, KEY, main, makeAgents, secondsBelow, secondsOf, SETTINGS, statOf } from './setup.ts';

/** Chats a second of 1, 2 and 4 backends on one database with a model that takes 50 ms, and what is used up by them. */

const COUNTS = [1, 2, 4];
const MODEL_MS = 50;
/** For each backend; as many answers wait for the model at once. */
const CONNECTIONS = 64;
const AGENTS = 40;
const MILLISECONDS = Number(process.env['BENCH_MILLISECONDS'] ?? 10_000);
const EXCHANGES = 10;
const headers = { authorization: `Bearer ${KEY}` };
/** Of a core, or of all of them: beyond it nothing is left to be had. */
const FULL = 0.85;

const chat = (backend: Service, run: string, milliseconds: number): Promise<Load> =>
  load({
    url: backend.address,
    headers,
    body: '',
    connections: CONNECTIONS,
    milliseconds,
    vary: (n, connection) => ({
      path: `/api/runtime/proxy/scale-${n % AGENTS}/v1/chat/completions`,
      headers: from(n),
      body: JSON.stringify({
        messages: [{ role: 'user', content: 'Say something short about the sea.' }],
        user: `${run}-${connection}-${Math.floor(n / CONNECTIONS / EXCHANGES)}`,
      }),
    }),
  });

interface Used {
  backends: number[];
  database: number;
  model: number;
  us: number;
  /** Of the whole machine: others may be at work on it, too. */
  idle: number;
}

const cores = availableParallelism();

/** What has no more to give. */
function saturated(share: Used): string {
  // Then nothing is said about backends.
  if (share.us > FULL) return 'the core of who asks';
  const ours = share.backends.reduce((sum, one) => sum + one, 0) + share.database + share.model + share.us;
  if (share.idle < cores * (1 - FULL))
    return `the machine’s ${cores} cores${ours < cores * FULL ? ', by others, too: not a quiet machine' : ''}`;
  if (Math.min(...share.backends) > FULL) return 'each backend’s one core';
  return 'no processor: the model and the database are waited for';
}

async function measure(backends: readonly Service[], model: Service, postmaster: number) {
  const used = (): Used => ({
    backends: backends.map(({ pid }) => secondsOf(pid)),
    database: secondsBelow(postmaster),
    model: secondsOf(model.pid),
    us: process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6,
    idle: cpus().reduce((sum, { times }) => sum + times.idle / 1000, 0),
  });
  const all = (run: string, ms: number) =>
    Promise.all(backends.map((one, index) => chat(one, `${run}-${index}-${backends.length}`, ms)));
  await all('warm', MILLISECONDS / 2);
  const [before, began] = [used(), performance.now()];
  const loads = await all('measured', MILLISECONDS);
  const seconds = (performance.now() - began) / 1000;
  const after = used();
  const share: Used = {
    backends: after.backends.map((one, index) => (one - before.backends[index]!) / seconds),
    database: (after.database - before.database) / seconds,
    model: (after.model - before.model) / seconds,
    us: (after.us - before.us) / seconds,
    idle: (after.idle - before.idle) / seconds,
  };
  const calls = loads.reduce((sum, one) => sum + one.calls, 0);
  return {
    perSecond: calls / seconds,
    medianMs: loads[0]!.median,
    p99Ms: Math.max(...loads.map(({ p99 }) => p99)),
    share,
  };
}

export async function benchBackends(): Promise<void> {
  const database = await testDatabase();
  const model = await startService(new URL('../ai/upstream.ts', import.meta.url), { MODEL_MS: `${MODEL_MS}` });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows: pids } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const postmaster = Number(statOf(pids[0]!.pid)[1]);
  const env = {
    ...SETTINGS,
    DATABASE_URL: database.url,
    OPENROUTER_BASE_URL: `${model.address}/v1`,
    BACKEND_PORT: '0',
  };
  const backends: Service[] = [];
  try {
    const figures: Record<string, number> = {};
    const rows = [];
    let mostAsking = 0;
    for (const count of COUNTS) {
      while (backends.length < count) backends.push(await startService(main('backend'), env));
      if (count === 1) await makeAgents(backends[0]!.address, 'scale', AGENTS);
      await client.query('analyze');
      const { perSecond, medianMs, p99Ms, share } = await measure(backends, model, postmaster);
      figures[`chats_per_second_${count}`] = perSecond;
      mostAsking = Math.max(mostAsking, share.us);
      rows.push({
        backends: count,
        'chats/s': perSecond,
        'median ms': medianMs,
        'p99 ms': p99Ms,
        'backends cores': share.backends.reduce((sum, one) => sum + one, 0),
        'database cores': share.database,
        'model cores': share.model,
        'who asks cores': share.us,
        'idle cores': share.idle,
        'used up': saturated(share),
      });
    }
    printTable(`A model of ${MODEL_MS} ms, ${CONNECTIONS} chats at once for each backend`, rows);
    const [one = 0, , four = 0] = COUNTS.map((count) => figures[`chats_per_second_${count}`]);
    // More processes on the same cores cost something; they must not cost much.
    finish(
      'scale backends',
      [
        { figure: 'four_against_one', value: four / one, atLeast: 0.7 },
        { figure: 'who_asks_cores', value: mostAsking, atMost: FULL },
      ],
      figures,
    );
  } finally {
    await client.end();
    for (const backend of backends) await backend.stop();
    await model.stop();
    await database.drop();
  }
}
