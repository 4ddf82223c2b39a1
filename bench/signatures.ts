import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { signBusMessage } from '@troupe/chain';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { Pool } from 'undici';
import { finish, printTable, type Row } from './lib/report.ts';
import { median } from './lib/sides.ts';

/** How much 200 bad messages a second slow another route of the same process. */

const PER_SECOND = 200;
const PHASE_MS = 4_000;

const account = privateKeyToAccount(generatePrivateKey());
const message = {
  version: '1.0',
  messageId: 'm',
  from: { agentId: 'a', walletAddress: account.address },
  to: { agentId: 'b' },
  action: 'PING',
  payload: { text: 'x'.repeat(500) },
};
// Well formed and by somebody else: as much work as a good one.
const bad = JSON.stringify({
  ...message,
  signature: await signBusMessage(privateKeyToAccount(generatePrivateKey()), message),
});

async function latencies(pool: Pool, until: number): Promise<number[]> {
  const found: number[] = [];
  while (performance.now() < until) {
    const started = performance.now();
    await (await pool.request({ path: '/small', method: 'GET' })).body.text();
    found.push(performance.now() - started);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return found;
}

async function flood(pool: Pool, until: number): Promise<number> {
  let refused = 0;
  const waiting: Promise<void>[] = [];
  const started = performance.now();
  for (let sent = 0; performance.now() < until; sent += 1) {
    const due = started + (sent * 1000) / PER_SECOND - performance.now();
    if (due > 1) await new Promise((resolve) => setTimeout(resolve, due));
    const one = pool.request({ path: '/bus', method: 'POST', body: bad }).then(async ({ statusCode, body }) => {
      await body.text();
      if (statusCode === 401) refused += 1;
    });
    waiting.push(one);
  }
  await Promise.all(waiting);
  return (refused / PHASE_MS) * 1000;
}

async function measure(where: 'thread' | 'loop'): Promise<Row & { ratio: number; quiet: number; flooded: number }> {
  const file = fileURLToPath(new URL('./signatures/server.ts', import.meta.url));
  const child = spawn(process.execPath, [file, where], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 50 });
  await flood(pool, performance.now() + 500);
  const quiet = median(await latencies(pool, performance.now() + PHASE_MS));
  const until = performance.now() + PHASE_MS;
  const [found, rate] = await Promise.all([latencies(pool, until), flood(pool, until)]);
  const flooded = median(found);
  await pool.close();
  child.kill();
  return { where, 'quiet ms': quiet, 'flooded ms': flooded, 'refused/s': rate, quiet, flooded, ratio: flooded / quiet };
}

const thread = await measure('thread');
const loop = await measure('loop');
printTable(
  'Median of another route, 200 bad messages a second',
  [thread, loop].map(({ where, quiet, flooded, ratio, ...row }) => ({
    checked: where ?? '',
    'quiet ms': quiet,
    'flooded ms': flooded,
    'refused/s': row['refused/s'] ?? 0,
    ratio,
  })),
);
finish('signatures', [{ figure: 'flooded_to_quiet', value: thread.ratio, atMost: 2 }], { on_loop: loop.ratio });
