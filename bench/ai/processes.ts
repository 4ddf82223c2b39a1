import { availableParallelism } from 'node:os';
import { load } from '../lib/load.ts';
import { secondsOfTree } from '../lib/processor.ts';
import { finish, printTable } from '../lib/report.ts';
import { against, median } from '../lib/sides.ts';
import {
  CALLER,
  CHAT,
  MILLISECONDS,
  ROUNDS,
  startBackend,
  startUpstream,
  WARM_UP_CALLS,
  WARM_UP_MS,
  type Backend,
} from './setup.ts';

/**
 * Chat through one process and through two behind one port (PROCESSES). Who asks, the provider and the database work on
 * the same machine, so the processors allow less than twice as much: what they allow is computed from what a call takes of
 * all of them, and told beside it.
 */

const CORES = availableParallelism();
/** From this many on two processes have a core each, and the others, too. */
const ENOUGH_CORES = 4;

interface Measured {
  perSecond: number;
  /** Of all who have to do with it: milliseconds of processor time. */
  cpuMs: number;
}

const chat = (backend: Backend, length: { milliseconds: number; calls?: number }) =>
  load({
    url: `${backend.address}/v1/chat/completions`,
    headers: CALLER,
    body: JSON.stringify(CHAT),
    connections: 64,
    ...length,
  });

async function measure(backend: Backend): Promise<Measured> {
  // All that the bench started is below it: providers, backends and the database.
  const before = secondsOfTree(process.pid);
  const { perSecond, calls, errors } = await chat(backend, { milliseconds: MILLISECONDS });
  if (errors > 0) throw new Error(`${errors} calls failed`);
  return { perSecond, cpuMs: ((secondsOfTree(process.pid) - before) / calls) * 1000 };
}

export async function benchProcesses(): Promise<void> {
  const upstream = await startUpstream();
  const one = await startBackend(upstream);
  const two = await startBackend(upstream, { PROCESSES: '2' });
  const found = { one: [] as Measured[], two: [] as Measured[] };
  try {
    for (const backend of [one, two]) await chat(backend, { milliseconds: WARM_UP_MS, calls: WARM_UP_CALLS });
    for (let round = 0; round < ROUNDS; round += 1) {
      found.one.push(await measure(one));
      found.two.push(await measure(two));
    }
  } finally {
    await two.stop();
    await one.stop();
    await upstream.stop();
  }
  const rates = (side: keyof typeof found) => found[side].map(({ perSecond }) => perSecond);
  const allowed = found.two.map(({ cpuMs }) => (CORES / cpuMs) * 1000);
  printTable(
    `Chat, 64 connections, ${CORES} cores`,
    (['one', 'two'] as const).map((side) => ({
      processes: side,
      'per second': median(rates(side)),
      'processor ms a call, of all': median(found[side].map(({ cpuMs }) => cpuMs)),
    })),
  );
  const more = against(rates('two'), rates('one'));
  finish(
    'ai processes',
    [
      { figure: 'two_vs_what_cores_allow', ...against(rates('two'), allowed), atLeast: 0.85 },
      ...(CORES >= ENOUGH_CORES ? [{ figure: 'two_vs_one', ...more, atLeast: 1.7 }] : []),
    ],
    { two_vs_one: more.value, cores: CORES, allowed_per_second: median(allowed) },
  );
}
