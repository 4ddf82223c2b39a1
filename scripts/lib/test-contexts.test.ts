import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Plan } from './test-plan.ts';

/** What files of tests find in the process that they are run in. */

let folder: string;
before(() => void (folder = mkdtempSync(path.join(tmpdir(), 'troupe-contexts-'))));
after(() => rmSync(folder, { recursive: true, force: true }));

function ran(files: Record<string, string>): { status: number | null; stdout: string } {
  const paths = Object.entries(files).map(([name, text]) => {
    const file = path.join(folder, `${name}.mjs`);
    writeFileSync(file, `import assert from 'node:assert/strict';\n${text}`);
    return file;
  });
  const first = paths
    .filter((file) => file.endsWith('.test.mjs'))
    .map((file) => ({ file, name: file, kind: undefined, silentMs: 60_000 }));
  const plan: Plan = { lanes: 2, timeoutMs: 5_000, took: [], first, last: [] };
  const file = path.join(folder, 'plan.json');
  writeFileSync(file, JSON.stringify(plan));
  const env = { ...process.env };
  // it would report to the run that this is a part of
  delete env['NODE_TEST_CONTEXT'];
  return spawnSync(process.execPath, [path.join(import.meta.dirname, 'run-files.ts'), file], { encoding: 'utf8', env });
}

test('nobody is told of each promise, as where there are no tests', () => {
  const { status, stdout } = ran({
    'promises.test': `
      import { createHook, executionAsyncId } from 'node:async_hooks';
      import { test } from 'node:test';
      test('is not numbered', async () => {
        const ids = new Set();
        for (let count = 0; count < 10; count += 1) ids.add(await Promise.resolve().then(executionAsyncId));
        assert.equal(ids.size, 1);
      });
      test('is numbered for who asks', async () => {
        const seen = [];
        const hook = createHook({ init: (id, type) => seen.push(type) }).enable();
        await Promise.resolve().then(() => {});
        hook.disable();
        assert.ok(seen.includes('PROMISE'));
      });`,
  });
  assert.equal(status, 0, stdout);
});

/** Two files that share what they import, one of which takes a moment: each has its tests and what comes before and after. */
const SHARED = `
  import { after, before, test } from 'node:test';
  import { setTimeout as delay } from 'node:timers/promises';
  await delay(20);
  export const order = [];
  export function suite(name) {
    before(async () => { await delay(1); order.push('before ' + name); });
    after(() => void order.push('after ' + name));
    test(name, async (t) => {
      order.push(name);
      await delay(1);
      await t.test('below', () => void order.push('below ' + name));
      await test('beside', () => void order.push('beside ' + name));
    });
  }`;

test('suites that are brought together keep their tests and hooks, also after a wait', () => {
  const { status, stdout } = ran({
    shared: SHARED,
    one: `import { suite } from './shared.mjs'; suite('one');`,
    two: `import { suite } from './shared.mjs'; suite('two');`,
    'both.test': `
      import { after, describe } from 'node:test';
      import { order } from './shared.mjs';
      describe('first', () => import('./one.mjs'));
      describe('second', () => import('./two.mjs'));
      after(() => assert.deepEqual(order, ['one', 'two'].flatMap((name) =>
        ['before ' + name, name, 'below ' + name, 'beside ' + name, 'after ' + name])));`,
  });
  assert.equal(status, 0, stdout);
  assert.match(stdout, /▶ first\n {2}▶ one\n {4}✔ below .*\n {4}✔ beside .*\n {2}✔ one .*\n✔ first/);
  assert.match(stdout, /▶ second\n {2}▶ two\n {4}✔ below .*\n {4}✔ beside .*\n {2}✔ two .*\n✔ second/);
});

test('what is thrown or refused where nobody catches it fails the test that it comes from', () => {
  const { status, stdout } = ran({
    'uncaught.test': `
      import { test } from 'node:test';
      import { setTimeout as delay } from 'node:timers/promises';
      test('throws', async () => {
        setTimeout(() => { throw new Error('thrown'); }, 1);
        await delay(100);
      });
      test('refuses', async () => {
        void Promise.reject(new Error('refused'));
        await delay(100);
      });
      test('is as good as ever', () => {});`,
  });
  assert.equal(status, 1, stdout);
  assert.match(stdout, /✖ throws [^]*✖ refuses [^]*✔ is as good as ever/);
});

test('and what comes after its test fails the file', () => {
  const { status, stdout } = ran({
    'late.test': `
      import { test } from 'node:test';
      import { setTimeout as delay } from 'node:timers/promises';
      test('leaves something behind', () => void setTimeout(() => { throw new Error('late'); }, 50));
      test('is beside it', () => delay(200));`,
  });
  assert.equal(status, 1, stdout);
  assert.match(stdout, /late/);
});
