import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { readResults } from '../bench/lib/results.ts';
import { benches, withResults } from '../scripts/lib/bench-page.ts';
import { keptIn, withKept } from '../scripts/lib/kept-figures.ts';

const root = path.resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

test('docs/benchmarks.md says what the benches found when they were last kept', () => {
  const page = read('docs/benchmarks.md');
  assert.equal(page, withResults(page, readResults(), read('bench/README.md')), 'run npm run docs:benchmarks');
});

test('figures in sentences are those that were kept last', () => {
  const pages = readdirSync(path.join(root, 'docs')).filter((file) => file.endsWith('.md'));
  const named = pages.flatMap((file) => {
    const page = read(`docs/${file}`);
    assert.equal(page, withKept(page, readResults()), `${file}: run npm run docs:benchmarks`);
    return keptIn(page);
  });
  assert.ok(named.length > 10, `${named.length}`);
  const results = {
    agents: { date: '', machine: '', targets: [], others: { mb_per_idle_agent: 0.05481, wake_ms: 5.9 } },
  };
  const mark = (name: string): string => `<!-- kept: ${name} -->old<!-- end -->`;
  assert.equal(
    withKept(
      `${mark('agents mb_per_idle_agent')} ${mark('agents in a gigabyte')} ${mark('agents wake_ms')}`,
      results,
    ).replaceAll(/<!--.*?-->/g, ''),
    '0.055 18,000 5.90',
  );
  assert.throws(() => withKept(mark('agents gone'), results), /no gone of agents/);
});

test('every bench is described, and every result is one of a bench that there is', () => {
  const files = readdirSync(path.join(root, 'bench'))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -'.ts'.length))
    .sort();
  assert.deepEqual(
    benches(read('bench/README.md'))
      .map(([name]) => name)
      .sort(),
    files,
  );
  for (const name of Object.keys(readResults())) assert.ok(files.includes(name.split(' ')[0]!), name);
});

test('a target that was missed is named on top of the page and in its row', () => {
  const page = '<!-- results: printed by npm run docs:benchmarks -->\nold\n<!-- end of results -->\n';
  const result = {
    date: '2026-01-02',
    machine: 'a machine',
    targets: [
      {
        figure: 'speed',
        value: 2.5,
        atLeast: 3,
        ours: 250,
        theirs: 100,
        spread: [2.1, 2.9, 5] as [number, number, number],
      },
      { figure: 'memory', value: 10, atMost: 20 },
    ],
    others: { calls: 7 },
  };
  const text = withResults(page, { http: result }, '| http | one request. |\n| ai | many of them |\n');
  assert.match(text, /1 of 2 targets are met\. Missed: `http speed`\./);
  assert.match(text, /\| `speed` \| 2\.50 \| ≥ 3 \| \*\*missed\*\* \| 250 \| 100 \| 2\.10 to 2\.90 in 5 \|/);
  assert.match(text, /\| `memory` \| 10\.0 \| ≤ 20 \| met \| {2}\| {2}\| {2}\|/);
  assert.match(text, /### ai\n\nMany of them\.\n\nNo result is kept yet\./);
  assert.doesNotMatch(text, /old/);
});
