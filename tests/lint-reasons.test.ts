import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

/** Rules of the linter that are off without a line above them that says why. */
const withoutReason = (config: string): string[] =>
  config
    .split('\n')
    .filter((line, at, lines) => /: "off",?$/.test(line) && !/^\s*\/\/ \S/.test(lines[at - 1] ?? ''))
    .map((line) => line.trim());

test('a rule of the linter that is off says why', () => {
  assert.deepEqual(withoutReason(readFileSync(path.join(import.meta.dirname, '../.oxlintrc.json'), 'utf8')), []);
  assert.deepEqual(withoutReason('{\n  // why\n  "a": "off",\n  "b": "off",\n  "c": "error"\n}'), ['"b": "off",']);
});
