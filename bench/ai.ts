import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { testDatabase } from '@troupe/testing/database/server';
import { endWithUs, startService, type Service } from './lib/child.ts';
import { load, type Load, type LoadOptions } from './lib/load.ts';
import { finish, printTable } from './lib/report.ts';
import { against, median, pairedRatio } from './lib/sides.ts';

/**
 * Chat through the backend's full path (key check, plan gate, caps look-up, metering into PostgreSQL) against
 * @portkey-ai/gateway and a bare node:http pass-through, all in front of the same provider. One process each, in turns.
 * BENCH_SECONDS: length of one side's part of a round; BENCH_CALLS: calls of the memory run, 0 for none.
 */

const MILLISECONDS = Number(process.env['BENCH_SECONDS'] ?? 2) * 1000;
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 9);
const MEMORY_CALLS = Number(process.env['BENCH_CALLS'] ?? 200_000);
const WARM_UP_MS = 30_000;
const WARM_UP_CALLS = 200_000;
const KEY = 'bench-internal-key-0123456789';
const SIDES = ['direct', 'passThrough', 'portkey', 'ours'] as const;
type Side = (typeof SIDES)[number];

const body = (stream: boolean): string =>
  JSON.stringify({
    model: 'openai/gpt-4o-mini',
    messages: [
      { role: 'system', content: 'You are a helpful assistant.' },
      { role: 'user', content: 'Say something short about the sea, and then something shorter.' },
    ],
    temperature: 0.7,
    max_tokens: 200,
    ...(stream ? { stream: true } : {}),
  });

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
  const main = fileURLToPath(new URL('node_modules/@portkey-ai/gateway/build/start-server.js', import.meta.url));
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

const database = await testDatabase();
const upstream = await startService(new URL('ai/upstream.ts', import.meta.url), {});
const passThrough = await startService(new URL('ai/pass-through.ts', import.meta.url), { UPSTREAM: upstream.address });
const portkey = await startPortkey();
const ours = await startService(new URL('../apps/backend/src/main.ts', import.meta.url), {
  NODE_ENV: 'production',
  BACKEND_PORT: '0',
  DATABASE_URL: database.url,
  INTERNAL_API_KEY: KEY,
  SESSION_SECRET: 'bench-session-secret-0123456789',
  WALLET_ENCRYPTION_KEY: 'bench-wallet-key-0123456789',
  OPENROUTER_API_KEY: 'bench',
  OPENROUTER_BASE_URL: `${upstream.address}/v1`,
});

const targets: Record<Side, Pick<LoadOptions, 'url' | 'headers'>> = {
  direct: { url: `${upstream.address}/v1/chat/completions`, headers: { authorization: 'Bearer bench' } },
  passThrough: { url: `${passThrough.address}/v1/chat/completions`, headers: { authorization: 'Bearer bench' } },
  portkey: {
    url: `${portkey.address}/v1/chat/completions`,
    headers: {
      authorization: 'Bearer bench',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${upstream.address}/v1`,
    },
  },
  ours: {
    url: `${ours.address}/v1/chat/completions`,
    headers: {
      authorization: `Bearer ${KEY}`,
      'x-user-id': 'bench-user',
      'x-user-plan': 'solo',
      'x-agent-id': 'bench',
    },
  },
};

/** The same through each protocol that the backend speaks, as calls a second. */
const FACES = {
  chat: { path: '/v1/chat/completions', body: JSON.parse(body(false)) as object },
  messages: {
    path: '/v1/messages',
    body: {
      model: 'openai/gpt-4o-mini',
      system: 'You are a helpful assistant.',
      messages: [{ role: 'user', content: 'Say something short about the sea, and then something shorter.' }],
      temperature: 0.7,
      max_tokens: 200,
    },
  },
  responses: {
    path: '/v1/responses',
    body: {
      model: 'openai/gpt-4o-mini',
      instructions: 'You are a helpful assistant.',
      input: 'Say something short about the sea, and then something shorter.',
      temperature: 0.7,
      max_output_tokens: 200,
    },
  },
};
type FaceName = keyof typeof FACES;
const FACE_NAMES = Object.keys(FACES) as FaceName[];

async function compareFaces(stream: boolean): Promise<Record<FaceName, number[]>> {
  const results: Record<FaceName, number[]> = { chat: [], messages: [], responses: [] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const name of FACE_NAMES) {
      const face = FACES[name];
      const { perSecond, errors } = await load({
        url: ours.address + face.path,
        headers: targets.ours.headers,
        body: JSON.stringify({ ...face.body, ...(stream && { stream: true }) }),
        connections: 64,
        milliseconds: round === 0 ? WARM_UP_MS : MILLISECONDS,
        ...(round === 0 && { calls: WARM_UP_CALLS }),
      });
      if (errors > 0) throw new Error(`${errors} calls of ${name} failed`);
      // The first round is for the compiler.
      if (round > 0) results[name].push(perSecond);
    }
  }
  return results;
}

function showFaces(title: string, results: Record<FaceName, number[]>): void {
  printTable(
    title,
    FACE_NAMES.map((name) => ({
      protocol: name,
      'per second': median(results[name]),
      'of chat': pairedRatio(results[name], results.chat),
    })),
  );
}

/** Until the compiler has seen enough of each side, and it goes on for 100,000 calls: a service runs for days. */
async function warmUp(stream: boolean): Promise<void> {
  for (const side of SIDES) {
    await load({
      ...targets[side],
      body: body(stream),
      connections: 64,
      milliseconds: WARM_UP_MS,
      calls: WARM_UP_CALLS,
    });
  }
}

type Rounds = Record<Side, Load[]>;

/** The sides in turns, so that whatever else the machine does hits all of them. */
async function compare(stream: boolean, connections: number): Promise<Rounds> {
  const results: Rounds = { direct: [], passThrough: [], portkey: [], ours: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const side of SIDES) {
      const result = await load({ ...targets[side], body: body(stream), connections, milliseconds: MILLISECONDS });
      results[side].push(result);
    }
  }
  return results;
}

const middle = (loads: readonly Load[], what: Exclude<keyof Load, 'errors' | 'calls'>): number =>
  median(loads.map((each) => each[what]));

const rates = (loads: readonly Load[]): number[] => loads.map(({ perSecond }) => perSecond);

function show(title: string, results: Rounds): void {
  const rows = SIDES.map((side) => {
    const loads = results[side];
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

/** Growth of resident memory over the second half of the calls; the first half fills pools and caches. */
async function memory(service: Service): Promise<{ half: number; end: number }> {
  const run = (calls: number) =>
    load({ ...targets.ours, body: body(false), connections: 64, milliseconds: 600_000, calls });
  await run(MEMORY_CALLS / 2);
  await delay(2_000);
  const half = service.memory();
  await run(MEMORY_CALLS / 2);
  await delay(2_000);
  return { half, end: service.memory() };
}

try {
  await warmUp(false);
  const many = await compare(false, 64);
  show('Chat, 64 connections', many);
  const one = await compare(false, 1);
  show('Chat, 1 connection', one);
  await warmUp(true);
  const streams = await compare(true, 64);
  show('Streams, 64 connections', streams);
  const oneStream = await compare(true, 1);
  show('Streams, 1 connection', oneStream);
  const faces = await compareFaces(false);
  showFaces('Protocols, 64 connections', faces);
  const streamedFaces = await compareFaces(true);
  showFaces('Protocols, streamed, 64 connections', streamedFaces);
  const grown = MEMORY_CALLS > 0 ? await memory(ours) : undefined;
  finish(
    'ai',
    [
      { figure: 'chat_vs_portkey', ...against(rates(many.ours), rates(many.portkey)), atLeast: 5 },
      { figure: 'chat_vs_pass_through', ...against(rates(many.ours), rates(many.passThrough)), atLeast: 0.7 },
      { figure: 'added_ms', value: middle(one.ours, 'median') - middle(one.direct, 'median'), atMost: 1 },
      { figure: 'streams_vs_portkey', ...against(rates(streams.ours), rates(streams.portkey)), atLeast: 3 },
      {
        figure: 'first_byte_added_ms',
        value: middle(oneStream.ours, 'firstByte') - middle(oneStream.direct, 'firstByte'),
        atMost: 1,
      },
      { figure: 'messages_vs_chat', ...against(faces.messages, faces.chat), atLeast: 0.9 },
      { figure: 'responses_vs_chat', ...against(faces.responses, faces.chat), atLeast: 0.9 },
      ...(grown ? [{ figure: 'memory_growth', value: grown.end / grown.half, atMost: 1.1 }] : []),
    ],
    {
      ours_per_second: middle(many.ours, 'perSecond'),
      streams_per_second: middle(streams.ours, 'perSecond'),
      messages_streams_vs_chat: pairedRatio(streamedFaces.messages, streamedFaces.chat),
      responses_streams_vs_chat: pairedRatio(streamedFaces.responses, streamedFaces.chat),
      ...(grown ? { mb_half: grown.half, mb_end: grown.end } : {}),
    },
  );
} finally {
  await ours.stop();
  await portkey.stop();
  await passThrough.stop();
  await upstream.stop();
  await database.drop();
}
