import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { withLines } from '../scripts/lib/code-links.ts';
import { unexplained, withFigures } from '../scripts/lib/house-figures.ts';
import { drawings, withDrawings } from '../scripts/lib/drawings.ts';
import { readSources } from '@troupe/testing/sources/sources';

const ROOT = path.resolve(import.meta.dirname, '..');
const page = readFileSync(path.join(ROOT, 'docs/architecture.md'), 'utf8');

test('docs/architecture.md draws the arrows that the code has, and no others', () => {
  const sources = readSources(ROOT);
  for (const name of Object.keys(drawings(sources))) assert.match(page, new RegExp(`<!-- drawing: ${name} -->`), name);
  assert.equal(page, withDrawings(page, sources), 'run npm run docs:code');
});

test('docs/architecture.md counts what the code has, and every place that sees everybody’s rows is of a kind', () => {
  const sources = readSources(ROOT);
  assert.equal(page, withFigures(page, sources), 'run npm run docs:code');
  for (const name of ['before', 'system']) assert.match(page, new RegExp(`<!-- table: ${name} -->\n\\| `), name);
  assert.deepEqual(unexplained(sources), []);
  const place = (file: string, line: string) => ({ path: `apps/web/src/${file}`, text: line });
  assert.deepEqual(
    unexplained([
      place('agents/tasks/service.ts', 'await list(db.system);'),
      place('agents/tasks/store.ts', '// not db.system'),
      place('agents/tasks/tasks.test.ts', 'await list(db.system);'),
      place('money/topup/service.ts', 'await db.asSystem(book);'),
    ]),
    ['apps/web/src/agents/tasks/service.ts'],
  );
});

test('an arrow that a longer way makes plain is left out', () => {
  const source = (at: string, text: string) => ({ path: `packages/agent/src/${at}/x.ts`, text });
  const { agent } = drawings([
    source('loop', "import { a } from '../tools/a.ts';\nimport { b } from '../store/b.ts';"),
    source('tools', "import { b } from '../store/b.ts';\nimport { c } from '../agent.ts';"),
    source('store', ''),
  ]);
  assert.equal(agent, '```mermaid\nflowchart LR\n  loop --> tools\n  tools --> store\n```');
});

test('docs/tour.md leads to the lines that it names', () => {
  const tour = readFileSync(path.join(ROOT, 'docs/tour.md'), 'utf8');
  assert.ok((tour.match(/#L\d+\)/g) ?? []).length >= 12);
  assert.equal(tour, withLines(tour, ROOT), 'run npm run docs:code');
  assert.throws(() => withLines('[`no such words`](../package.json#L1)', ROOT), /has no line with no such words/);
});
