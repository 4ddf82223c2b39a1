import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Source } from '@troupe/testing/sources/sources';
import { grouped, measures, runnable, standsFor } from './test-groups.ts';

const sourcesOf = (texts: Record<string, string>) =>
  new Map(Object.entries(texts).map(([path, text]) => [path, { path, text } as Source]));

test('what lies together shares a process, a few at a time', () => {
  const many = Array.from({ length: 12 }, (_, index) => `apps/web/src/money/s${index}/s${index}.test.ts`);
  const files = [...many, 'apps/web/src/identity/a.test.ts', 'tests/e2e/b.test.ts', 'tests/e2e/c.test.ts'];
  const groups = grouped(files, sourcesOf(Object.fromEntries(files.map((file) => [file, '']))));
  assert.deepEqual(
    groups.map((group) => group.length),
    [10, 2, 1, 1, 1],
  );
  assert.deepEqual(groups.flat().toSorted(), files.toSorted(), 'none is lost, none is there twice');
});

test('what changes or measures the process is alone, and so is what cannot be looked into', () => {
  const texts = {
    'packages/kernel/src/a.test.ts': "process.env['A'] = 'b';",
    'packages/kernel/src/b.test.ts': 'mock.timers.enable();',
    'packages/kernel/src/c.test.ts': 'process.memoryUsage().rss',
    'packages/kernel/src/d.test.ts': "if (process.env['A'] === 'b') test();",
    'packages/kernel/src/e.test.ts': '',
  };
  const groups = grouped([...Object.keys(texts), 'packages/kernel/src/*.test.ts'], sourcesOf(texts));
  assert.deepEqual(
    groups.map((group) => group.length),
    [1, 1, 1, 2, 1],
  );
});

test('who measures how long others wait is among his like', () => {
  const texts = {
    'tests/attacks/a.test.ts': 'await scene.unharmed(attack);',
    'tests/attacks/b.test.ts': '',
    'tests/attacks/c.test.ts': 'const { chat } = await scene.during(attack);',
  };
  const groups = grouped(Object.keys(texts), sourcesOf(texts));
  assert.deepEqual(
    groups.map((group) => [group.length, measures(group, sourcesOf(texts))]),
    [
      [2, true],
      [1, false],
    ],
  );
});

test('a group is one file of suites that are named by their files', () => {
  const { files, remove } = runnable([['tests/e2e/a.test.ts'], ['tests/x.test.ts', 'tests/y.test.ts']]);
  const [alone = '', together = ''] = files;
  assert.equal(alone, 'tests/e2e/a.test.ts');
  const text = readFileSync(together, 'utf8');
  assert.match(text, /describe\("tests\/x\.test\.ts", \(\) => import\("file:.*\/tests\/x\.test\.ts"\)\);/);
  assert.equal(standsFor(together, 'tests/x.test.ts'), 'tests/x.test.ts');
  assert.equal(standsFor('/somewhere/tests/e2e/a.test.ts', 'a suite'), undefined);
  remove();
  assert.equal(existsSync(together), false);
});
