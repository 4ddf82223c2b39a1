import { startService } from '../lib/child.ts';
import { load } from '../lib/load.ts';
import { finish, printTable } from '../lib/report.ts';
import { against, median } from '../lib/sides.ts';
import {
  CALLER,
  CHAT,
  MILLISECONDS,
  startBackend,
  startUpstream,
  WARM_UP_CALLS,
  WARM_UP_MS,
  type Backend,
} from './setup.ts';

/**
 * Chat through two backends that differ in one setting: where traces are sent to, and nowhere. Two processes that were
 * started alike differ by as much as traces cost, so several pairs are started, one after the other.
 */

const PAIRS = Number(process.env['BENCH_PAIRS'] ?? 5);
const ROUNDS_OF_A_PAIR = 3;
const SIDES = ['silent', 'traced'] as const;
type Side = (typeof SIDES)[number];
type Figures = Record<Side, { perSecond: number[]; cpuMs: number[] }>;

const ask = (backend: Backend, length: { milliseconds: number; calls?: number }) =>
  load({
    url: `${backend.address}/v1/chat/completions`,
    headers: CALLER,
    body: JSON.stringify(CHAT),
    connections: 64,
    ...length,
  });

async function round(backend: Backend, { perSecond, cpuMs }: Figures[Side]): Promise<void> {
  const before = backend.cpu();
  const found = await ask(backend, { milliseconds: MILLISECONDS });
  if (found.errors > 0) throw new Error(`${found.errors} calls failed`);
  perSecond.push(found.perSecond);
  cpuMs.push(((backend.cpu() - before) / found.calls) * 1000);
}

/** Of every other pair the traced one is started, warmed up and asked first. */
async function measurePair(number: number, start: (side: Side) => Promise<Backend>, figures: Figures): Promise<void> {
  const order = number % 2 === 0 ? SIDES : SIDES.toReversed();
  const pair = new Map<Side, Backend>();
  try {
    for (const side of order) pair.set(side, await start(side));
    for (const backend of pair.values()) await ask(backend, { milliseconds: WARM_UP_MS, calls: WARM_UP_CALLS });
    for (let n = 0; n < ROUNDS_OF_A_PAIR; n += 1)
      for (const [side, backend] of pair) await round(backend, figures[side]);
  } finally {
    for (const backend of pair.values()) await backend.stop();
  }
}

export async function benchTraces(): Promise<void> {
  const upstream = await startUpstream();
  const collector = await startService(new URL('collector.ts', import.meta.url), {});
  const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.address };
  const start = (side: Side) => startBackend(upstream, side === 'traced' ? traces : {});
  const figures: Figures = { silent: { perSecond: [], cpuMs: [] }, traced: { perSecond: [], cpuMs: [] } };
  try {
    for (let number = 0; number < PAIRS; number += 1) await measurePair(number, start, figures);
    const row = (side: Side) => ({
      'per second': median(figures[side].perSecond),
      'processor ms a call': median(figures[side].cpuMs),
    });
    printTable(`Chat, 64 connections, ${PAIRS} pairs of backends`, [
      { side: 'without traces', ...row('silent') },
      { side: 'with traces', ...row('traced') },
    ]);
    const { silent, traced } = figures;
    finish(
      'ai traces',
      [{ figure: 'traced_vs_silent', ...against(traced.perSecond, silent.perSecond), atLeast: 0.95 }],
      { cpu_ms_silent: median(silent.cpuMs), cpu_ms_traced: median(traced.cpuMs), pairs: PAIRS },
    );
  } finally {
    await collector.stop();
    await upstream.stop();
  }
}
