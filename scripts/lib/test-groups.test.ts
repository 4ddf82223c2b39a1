import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Source } from '@troupe/testing/sources/sources';
import { grouped } from './test-groups.ts';

const sourcesOf = (texts: Record<string, string>) =>
  new Map(Object.entries(texts).map(([path, text]) => [path, { path, text } as Source]));

test('what lies together shares a process, some at a time, slow ones beside quick ones', () => {
  const many = Array.from({ length: 22 }, (_, index) => `apps/web/src/money/s${index}/s${index}.test.ts`);
  const long = Array.from({ length: 9 }, (_, index) => `tests/e2e/${index}.test.ts`);
  const files = [
    ...many,
    'apps/web/src/identity/a.test.ts',
    ...long,
    'tests/faults/b.test.ts',
    'tests/faults/c.test.ts',
  ];
  const groups = grouped(files, sourcesOf(Object.fromEntries(files.map((file) => [file, '']))));
  assert.deepEqual(
    groups.map((group) => group.length),
    [1, 1, 11, 11, 1, 5, 4],
  );
  assert.deepEqual(groups[2]!.slice(0, 2), [many[0], many[2]]);
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
    [1, 1, 1, 1, 2],
  );
});

test('who measures how long others wait has a process of his own', () => {
  const texts = {
    'tests/attacks/a.test.ts': 'await scene.unharmed(attack);',
    'tests/attacks/b.test.ts': '',
    'tests/attacks/c.test.ts': 'const { chat } = await scene.during(attack);',
    'tests/attacks/d.test.ts': '',
  };
  const groups = grouped(Object.keys(texts), sourcesOf(texts));
  assert.deepEqual(
    groups.map((group) => group.length),
    [1, 1, 2],
  );
});
