import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { endWithUs, type Service } from '../lib/child.ts';
import { load, type Load, type LoadOptions } from '../lib/load.ts';
import { finish, printTable } from '../lib/report.ts';
import { against, median } from '../lib/sides.ts';
import { CHAT, CALLER, MILLISECONDS, ROUNDS, startOurs, WARM_UP_CALLS, WARM_UP_MS } from './setup.ts';

/**
 * Chat through the backend's full path (key check, plan gate, caps look-up, metering into PostgreSQL) against
 * @portkey-ai/gateway and a bare node:http pass-through, all in front of the same provider. One process each, in turns.
 * BENCH_CALLS: calls of the memory run, 0 for none.
 */

const MEMORY_CALLS = Number(process.env['BENCH_CALLS'] ?? 200_000);
/** One connection makes thousands of calls in it. */
const SHORT_MS = 1000;
const SIDES = ['direct', 'passThrough', 'portkey', 'ours'] as const;
type Side = (typeof SIDES)[number];
type Targets = Record<Side, Pick<LoadOptions, 'url' | 'headers'>>;

const body = (stream: boolean): string => JSON.stringify({ ...CHAT, ...(stream && { stream: true }) });

async function freePort(): Promise<number> {
  const probe = createServer();
  probe.listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  return port;
}

async function startPortkey(): Promise<{ address: string; stop: () => Promise<void> }> {
  const port = await freePort();
  const main = path.join(import.meta.dirname, '../node_modules/@portkey-ai/gateway/build/start-server.js');
  const child = endWithUs(
    spawn(process.execPath, [main, `--port=${port}`, '--headless'], {
      env: { PATH: process.env['PATH'], NODE_ENV: 'production' },
      stdio: 'ignore',
    }),
  );
  const address = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 100; tries += 1) {
    const isUp = await fetch(address).then(
      () => true,
      () => false,
    );
    if (isUp) break;
    await delay(200);
  }
  return {
    address,
    stop: async () => {
      child.kill('SIGTERM');
      const killer = setTimeout(() => child.kill('SIGKILL'), 3_000);
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      clearTimeout(killer);
    },
  };
}

const targetsOf = (upstream: string, passThrough: string, portkey: string, ours: string): Targets => ({
  direct: { url: `${upstream}/v1/chat/completions`, headers: { authorization: 'Bearer bench' } },
  passThrough: { url: `${passThrough}/v1/chat/completions`, headers: { authorization: 'Bearer bench' } },
  portkey: {
    url: `${portkey}/v1/chat/completions`,
    headers: {
      authorization: 'Bearer bench',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${upstream}/v1`,
    },
  },
  ours: {
    url: `${ours}/v1/chat/completions`,
    headers: CALLER,
  },
});

/** Until the compiler has seen enough of each side, and it goes on for 100,000 calls: a service runs for days. */
async function warmUp(targets: Targets, stream: boolean): Promise<void> {
  for (const side of SIDES) {
    await load({
      ...targets[side],
      body: body(stream),
      connections: 64,
      milliseconds: side === 'direct' ? SHORT_MS : WARM_UP_MS,
      calls: WARM_UP_CALLS,
    });
  }
}

type Rounds<Of extends Side = Side> = Record<Of, Load[]>;
/** What is added to a call is told by these two. */
const ADDED = ['direct', 'ours'] as const;
type Added = Rounds<(typeof ADDED)[number]>;

/** The sides in turns, so that whatever else the machine does hits all of them. */
async function compare<Of extends Side>(
  targets: Targets,
  sides: readonly Of[],
  how: Pick<LoadOptions, 'connections' | 'perSecond'> & { stream: boolean; milliseconds?: number },
): Promise<Record<Of, Load[]>> {
  const { stream, milliseconds = MILLISECONDS, ...given } = how;
  const results = Object.fromEntries(sides.map((side) => [side, [] as Load[]])) as Record<Of, Load[]>;
  for (let round = 0; round < ROUNDS; round += 1)
    for (const side of sides)
      results[side].push(await load({ ...targets[side], body: body(stream), milliseconds, ...given }));
  return results;
}

const middle = (loads: readonly Load[], what: Exclude<keyof Load, 'errors' | 'calls'>): number =>
  median(loads.map((each) => each[what]));

const rates = (loads: readonly Load[]): number[] => loads.map(({ perSecond }) => perSecond);

function show(title: string, results: Partial<Rounds>): void {
  const rows = Object.entries(results).map(([side, loads]) => {
    return {
      side,
      'per second': middle(loads, 'perSecond'),
      'median ms': middle(loads, 'median'),
      'p99 ms': middle(loads, 'p99'),
      'first byte ms': middle(loads, 'firstByte'),
      errors: loads.reduce((sum, each) => sum + each.errors, 0),
    };
  });
  printTable(title, rows);
}

const LOOK_MS = 100;

/** The most that it takes while it works. */
async function most(service: Service, work: Promise<unknown>): Promise<number> {
  let found = service.memory();
  const looking = setInterval(() => (found = Math.max(found, service.memory())), LOOK_MS);
  await work.finally(() => clearInterval(looking));
  return found;
}

/** Growth of resident memory over the second half of the calls; the first half fills pools and caches. */
async function memory(targets: Targets, service: Service): Promise<Grown> {
  const run = (calls: number) =>
    most(service, load({ ...targets.ours, body: body(false), connections: 64, milliseconds: 60_000, calls }));
  const first = await run(MEMORY_CALLS / 2);
  await delay(2_000);
  const half = service.memory();
  const second = await run(MEMORY_CALLS / 2);
  await delay(2_000);
  return { half, end: service.memory(), most: Math.max(first, second) };
}

interface Grown {
  half: number;
  end: number;
  most: number;
}

interface Found {
  many: Rounds;
  one: Added;
  half: Added;
  streams: Rounds;
  oneStream: Added;
}

async function measure(targets: Targets): Promise<Found> {
  await warmUp(targets, false);
  const many = await compare(targets, SIDES, { stream: false, connections: 64 });
  show('Chat, 64 connections', many);
  const perSecond = middle(many.ours, 'perSecond') / 2;
  const half = await compare(targets, ADDED, { stream: false, connections: 64, perSecond });
  show(`Chat, ${Math.round(perSecond)} calls a second: half of what it holds`, half);
  const one = await compare(targets, ADDED, { stream: false, connections: 1, milliseconds: SHORT_MS });
  show('Chat, 1 connection', one);
  await warmUp(targets, true);
  const streams = await compare(targets, SIDES, { stream: true, connections: 64 });
  show('Streams, 64 connections', streams);
  const oneStream = await compare(targets, ADDED, { stream: true, connections: 1, milliseconds: SHORT_MS });
  show('Streams, 1 connection', oneStream);
  return { many, one, half, streams, oneStream };
}

export async function benchChat(): Promise<void> {
  const { upstream, passThrough, ours, stop } = await startOurs();
  const portkey = await startPortkey();
  const targets = targetsOf(upstream.address, passThrough.address, portkey.address, ours.address);
  try {
    const found = await measure(targets);
    tell(found, MEMORY_CALLS > 0 ? await memory(targets, ours) : undefined);
  } finally {
    await portkey.stop();
    await stop();
  }
}

/** What one side has at the median of its rounds beside the other. */
const added = ({ ours, direct }: Added, what: 'median' | 'p99' | 'firstByte'): number =>
  median(ours.map((load, round) => load[what] - (direct[round]?.[what] ?? Number.NaN)));

function tell({ many, one, half, streams, oneStream }: Found, grown?: Grown): void {
  finish(
    'ai chat',
    [
      { figure: 'chat_vs_portkey', ...against(rates(many.ours), rates(many.portkey)), atLeast: 6 },
      { figure: 'chat_vs_pass_through', ...against(rates(many.ours), rates(many.passThrough)), atLeast: 0.9 },
      { figure: 'added_ms', value: added(one, 'median'), atMost: 1 },
      { figure: 'p99_added_ms_at_half_load', value: added(half, 'p99'), atMost: 2 },
      { figure: 'streams_vs_portkey', ...against(rates(streams.ours), rates(streams.portkey)), atLeast: 3 },
      { figure: 'first_byte_added_ms', value: added(oneStream, 'firstByte'), atMost: 1 },
      ...(grown
        ? [
            { figure: 'mb_under_load', value: grown.most, atMost: 300 },
            { figure: 'memory_growth', value: grown.end / grown.half, atMost: 1.1 },
          ]
        : []),
    ],
    {
      ours_per_second: middle(many.ours, 'perSecond'),
      streams_per_second: middle(streams.ours, 'perSecond'),
      ...(grown ? { mb_half: grown.half, mb_end: grown.end } : {}),
    },
  );
}
