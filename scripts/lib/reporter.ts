import path from 'node:path';
import { spec } from 'node:test/reporters';
import { ROOT } from './run.mjs';
import { keepTimes } from './test-order.ts';
import { standsFor, type Took } from './test-plan.ts';
import type { TestEvent } from './test-runs.ts';

/**
 * Node's own report, and before its summary how long the slowest files took, which took the processor longest, and how
 * long each part of all took. The times are kept for the next run.
 */

const SHOWN = 12;
/** The first line of the summary. */
const SUMMARY = /^tests \d+$/;

interface Figures {
  /** Seconds of processor time by file, or by the first of those that share a process; filled while events come. */
  costs: ReadonlyMap<string, number>;
  /** Seconds of processor time of all, so far. */
  worked: () => number;
  /** What else was done; filled while events come. */
  took: readonly Took[];
}

export default async function* report(
  events: AsyncIterable<TestEvent>,
  { costs, worked, took }: Figures,
): AsyncGenerator<string> {
  const times = new Map<string, number>();
  const inner = new spec();
  const shown: string[] = [];
  inner.on('data', (chunk: Buffer) => shown.push(String(chunk)));
  let isTold = false;
  for await (const event of events) {
    const { nesting, file, ran = file, message, details, name: title = '' } = event.data;
    if ((event.type === 'test:pass' || event.type === 'test:fail') && nesting === 0 && ran !== undefined) {
      const name = standsFor(ran, title) ?? path.relative(ROOT, path.resolve(ROOT, ran));
      if (!name.startsWith('..')) times.set(name, (times.get(name) ?? 0) + (details?.duration_ms ?? 0));
    }
    if (!isTold && event.type === 'test:diagnostic' && nesting === 0 && SUMMARY.test(message ?? '')) {
      isTold = true;
      keepTimes(times);
      if (times.size > 1) yield table(times) + costTable(costs, worked());
      yield partTable(took);
    }
    inner.write(event);
    yield* shown.splice(0);
  }
  inner.end();
  yield* shown.splice(0);
}

const lineOf = (seconds: number, file: string): string => `${seconds.toFixed(1).padStart(8)} s  ${file}`;

function table(times: ReadonlyMap<string, number>): string {
  const all = [...times].toSorted(([, a], [, b]) => b - a);
  const lines = all.slice(0, SHOWN).map(([file, ms]) => lineOf(ms / 1000, file));
  return `\nThe slowest of ${all.length} files:\n${lines.join('\n')}\n\n`;
}

function partTable(took: readonly Took[]): string {
  const lines = took.map(([what, ms]) => lineOf(ms / 1000, what));
  return lines.length === 0 ? '' : `How long each part took:\n${lines.join('\n')}\n\n`;
}

/**
 * Some outlive who started them, so that nobody is told what they took: a browser's pages, what runs in containers. They and
 * the servers that all files share (the databases, a container engine) are in the first figure alone.
 */
function costTable(costs: ReadonlyMap<string, number>, worked: number): string {
  const all = [...costs].toSorted(([, a], [, b]) => b - a);
  const sum = all.reduce((total, [, seconds]) => total + seconds, 0);
  if (sum === 0) return '';
  const lines = all.slice(0, SHOWN).map(([file, seconds]) => lineOf(seconds, file));
  const told = `The processors worked for ${worked.toFixed(0)} s, ${sum.toFixed(0)} s of it in what files started and saw end`;
  return `${told}, most of that for:\n${lines.join('\n')}\n\n`;
}
