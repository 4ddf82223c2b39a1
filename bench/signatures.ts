import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { signBusMessage } from '@troupe/chain';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { Pool } from 'undici';
import { endWithUs } from './lib/child.ts';
import { finish, printTable } from './lib/report.ts';
import { median } from './lib/sides.ts';

/** How much 200 bad messages a second slow another route of the same process. */

const PER_SECOND = 200;
const PHASE_MS = 4_000;

interface Target {
  port: string;
  /** Of another route. */
  small: string;
  bus: string;
  headers: () => Record<string, string>;
  body: string;
}

const account = privateKeyToAccount(generatePrivateKey());

/** Well formed and by somebody else: as much work as a good one. */
async function badMessage(agentId: string): Promise<string> {
  const message = {
    version: '1.0',
    messageId: 'm',
    timestamp: new Date().toISOString(),
    from: { agentId, walletAddress: account.address },
    to: { agentId },
    action: 'PING',
    payload: { text: 'x'.repeat(500) },
  };
  const signature = await signBusMessage(privateKeyToAccount(generatePrivateKey()), message);
  return JSON.stringify({ ...message, signature });
}

async function latencies(pool: Pool, { small: path }: Target, until: number): Promise<number[]> {
  const found: number[] = [];
  while (performance.now() < until) {
    const started = performance.now();
    await (await pool.request({ path, method: 'GET' })).body.text();
    found.push(performance.now() - started);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return found;
}

async function flood(pool: Pool, { bus: path, headers, body: bad }: Target, until: number): Promise<number> {
  let refused = 0;
  const waiting: Promise<void>[] = [];
  const started = performance.now();
  for (let sent = 0; performance.now() < until; sent += 1) {
    const due = started + (sent * 1000) / PER_SECOND - performance.now();
    if (due > 1) await new Promise((resolve) => setTimeout(resolve, due));
    const one = pool.request({ path, method: 'POST', body: bad, headers: headers() });
    waiting.push(
      one.then(async ({ statusCode, body }) => {
        await body.text();
        if (statusCode === 401) refused += 1;
      }),
    );
  }
  await Promise.all(waiting);
  return (refused / PHASE_MS) * 1000;
}

const run = (file: string, argument: string) =>
  endWithUs(
    spawn(process.execPath, [fileURLToPath(new URL(`./signatures/${file}`, import.meta.url)), argument], {
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );

async function plain(where: 'thread' | 'loop') {
  const child = run('server.ts', where);
  const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const target = { port, small: '/small', bus: '/bus', headers: () => ({}), body: await badMessage('a') };
  return measure(where, child, target);
}

/** Each message from another address: how often one may call is not what is measured here. */
async function product() {
  const child = run('backend.ts', account.address);
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { port, agentId, key } = JSON.parse(line) as Record<'port' | 'agentId' | 'key', string>;
  let sent = 0;
  const headers = () => ({
    'content-type': 'application/json',
    authorization: `Bearer ${key}`,
    'x-client-ip': `bench-${(sent += 1)}`,
  });
  const target = { port, small: '/health', bus: '/api/underground/bus/send', headers, body: await badMessage(agentId) };
  return measure('the backend', child, target);
}

async function measure(where: string, child: ChildProcess, target: Target) {
  const pool = new Pool(`http://127.0.0.1:${target.port}`, { connections: 50 });
  await flood(pool, target, performance.now() + 1000);
  const quiet = median(await latencies(pool, target, performance.now() + PHASE_MS));
  const until = performance.now() + PHASE_MS;
  const [found, rate] = await Promise.all([latencies(pool, target, until), flood(pool, target, until)]);
  const flooded = median(found);
  await pool.close();
  child.kill();
  return { checked: where, 'quiet ms': quiet, 'flooded ms': flooded, 'refused/s': rate, ratio: flooded / quiet };
}

const backend = await product();
const thread = await plain('thread');
const loop = await plain('loop');
printTable('Median of another route, 200 bad messages a second', [backend, thread, loop]);
finish(
  'signatures',
  [
    { figure: 'flooded_to_quiet', value: backend.ratio, atMost: 2 },
    { figure: 'refused_a_second', value: backend['refused/s'], atLeast: 190 },
  ],
  { bare_thread: thread.ratio, bare_loop: loop.ratio },
);
