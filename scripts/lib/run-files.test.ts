import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Plan, Planned } from './test-plan.ts';

/** Files of tests that measure, as the runner runs them: beside others first, and alone when that failed. */

let folder: string;
before(() => void (folder = mkdtempSync(path.join(tmpdir(), 'troupe-run-'))));
after(() => rmSync(folder, { recursive: true, force: true }));

function planned(name: string, fails: 'beside others' | 'always' | 'never'): Planned {
  const write = (suffix: string, isBad: boolean): string => {
    const file = path.join(folder, `${name}${suffix}.test.mjs`);
    writeFileSync(
      file,
      `import { test } from 'node:test';\ntest('${name}', () => { if (${isBad}) throw new Error('slow'); });\n`,
    );
    return file;
  };
  return { file: write('', fails !== 'never'), name, kind: 'measures', alone: write('-alone', fails === 'always') };
}

function ran(first: Planned[]): { status: number | null; stdout: string } {
  const plan: Plan = { lanes: 2, timeoutMs: 10_000, first, last: [] };
  const file = path.join(folder, 'plan.json');
  writeFileSync(file, JSON.stringify(plan));
  const env = { ...process.env };
  // it would report to the run that this is a part of
  delete env['NODE_TEST_CONTEXT'];
  return spawnSync(process.execPath, [path.join(import.meta.dirname, 'run-files.ts'), file], { encoding: 'utf8', env });
}

test('who failed beside others is tried again alone, and that counts, once', () => {
  const { status, stdout } = ran([planned('busy', 'beside others'), planned('good', 'never')]);
  assert.equal(status, 0, stdout);
  assert.match(stdout, /busy failed beside others: it was tried again alone/);
  assert.match(stdout, /tests 2\n.*\n.*pass 2\n.*fail 0\n/);
});

test('a fault fails there, too', () => {
  const { status, stdout } = ran([planned('bad', 'always'), planned('good', 'never')]);
  assert.equal(status, 1, stdout);
  assert.match(stdout, /tests 2\n.*\n.*pass 1\n.*fail 1\n/);
});
