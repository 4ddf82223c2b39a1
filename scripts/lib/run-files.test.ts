import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { isAlive } from '@troupe/testing/processes/program';
import type { Plan, Planned } from './test-plan.ts';

/** What the runner does about files that measure, beside others first and alone when that failed, and about those that hang. */

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
  const [file, alone] = [write('', fails !== 'never'), write('-alone', fails === 'always')];
  return { file, name, kind: 'measures', silentMs: 60_000, alone };
}

function ran(first: Planned[]): { status: number | null; stdout: string } {
  const plan: Plan = { lanes: 2, timeoutMs: 10_000, took: [['the check', 1500]], first, last: [] };
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
  assert.match(
    stdout,
    / 1\.5 s  the check\n *\d\.\d s  files beside each other \(2\)\n *\d\.\d s  files alone \(1\)\n/,
  );
});

test('a fault fails there, too', () => {
  const { status, stdout } = ran([planned('bad', 'always'), planned('good', 'never')]);
  assert.equal(status, 1, stdout);
  assert.match(stdout, /tests 2\n.*\n.*pass 1\n.*fail 1\n/);
});

function hanging(name: string, how: string): Planned {
  const file = path.join(folder, `${name}.test.mjs`);
  writeFileSync(
    file,
    `import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
test('is done', () => {
  const left = spawn('sleep', ['600'], { stdio: 'inherit' });
  writeFileSync(${JSON.stringify(`${file}.pids`)}, [process.pid, left.pid].join(' '));
});
${how}
`,
  );
  return { file, name, kind: undefined, silentMs: 3_000 };
}

test('who neither says anything nor ends is ended with all that it started, and told of by name', () => {
  const waits = hanging('waits', 'setInterval(() => {}, 1000);');
  const works = hanging('works', "test('goes on', () => { for (;;); });");
  const { status, stdout } = ran([waits, works, planned('good', 'never')]);
  assert.equal(status, 1, stdout);
  for (const { name } of [waits, works])
    assert.match(stdout, new RegExp(`✖ ${name}: said nothing for 3 s and was ended`));
  assert.match(stdout, /✔ good/);
  for (const { file } of [waits, works])
    for (const pid of readFileSync(`${file}.pids`, 'utf8').split(' '))
      assert.equal(isAlive(Number(pid)), false, `${file}: ${pid} runs`);
});
