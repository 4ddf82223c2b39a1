import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { complaints, longFunctions } from './lib/functions.ts';
import { LONG_FUNCTIONS } from './lib/long-functions.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const listed = Object.fromEntries(
  Object.values(LONG_FUNCTIONS).flatMap(({ functions }) => Object.entries<number>(functions)),
);

test('functions have at most 60 lines, but those that are listed with their reason', () => {
  assert.deepEqual(complaints(longFunctions(ROOT, ['apps', 'packages', 'scripts', 'bench']), listed), []);
});

describe('the rule can fail', () => {
  const long = { file: 'apps/web/src/a.ts', name: 'createA', lines: 61 };

  test('at one that is new, at one that grew and at one that is short now', () => {
    assert.equal(complaints([long], {}).length, 1);
    assert.equal(complaints([long], { 'apps/web/src/a.ts createA': 60 }).length, 1);
    assert.equal(complaints([], { 'apps/web/src/a.ts createA': 61 }).length, 1);
    assert.deepEqual(complaints([long], { 'apps/web/src/a.ts createA': 61 }), []);
  });

  test('a function is measured with all that is in it; tests are not', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'functions-'));
    try {
      const lines = Array.from({ length: 57 }, () => '    work();').join('\n');
      const text = (name: string) =>
        `export function ${name}() {\n  function within() {\n${lines}\n  }\n  return within;\n}\n`;
      writeFileSync(path.join(folder, 'a.ts'), text('outer'));
      writeFileSync(path.join(folder, 'a.test.ts'), text('tested'));
      assert.deepEqual(
        longFunctions(folder, ['.']).map(({ name, lines: counted }) => [name, counted]),
        [['outer', 62]],
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
