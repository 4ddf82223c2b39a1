import path from 'node:path';
import { spec } from 'node:test/reporters';
import { ROOT } from './run.mjs';
import { standsFor } from './test-groups.ts';
import { keepTimes } from './test-order.ts';
import type { TestEvent } from './test-runs.ts';

/** Node's own report, and before its summary how long the slowest files took. The times are kept for the next run. */

const SHOWN = 12;
/** The first line of the summary. */
const SUMMARY = /^tests \d+$/;

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const times = new Map<string, number>();
  const inner = new spec();
  const shown: string[] = [];
  inner.on('data', (chunk: Buffer) => shown.push(String(chunk)));
  let isTold = false;
  for await (const event of events) {
    const { nesting, file, ran = file, message, details, name: title = '' } = event.data;
    if ((event.type === 'test:pass' || event.type === 'test:fail') && nesting === 0 && ran !== undefined) {
      const name = standsFor(ran, title) ?? path.relative(ROOT, path.resolve(ROOT, ran));
      times.set(name, (times.get(name) ?? 0) + (details?.duration_ms ?? 0));
    }
    if (!isTold && event.type === 'test:diagnostic' && nesting === 0 && SUMMARY.test(message ?? '')) {
      isTold = true;
      keepTimes(times);
      if (times.size > 1) yield table(times);
    }
    inner.write(event);
    yield* shown.splice(0);
  }
  inner.end();
  yield* shown.splice(0);
}

function table(times: ReadonlyMap<string, number>): string {
  const all = [...times].toSorted(([, a], [, b]) => b - a);
  const lines = all.slice(0, SHOWN).map(([file, ms]) => `${(ms / 1000).toFixed(1).padStart(8)} s  ${file}`);
  return `\nThe slowest of ${all.length} files:\n${lines.join('\n')}\n\n`;
}
