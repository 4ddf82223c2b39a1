import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readSources, type Source } from '@troupe/testing/sources/sources';
import { ROOT } from './run.mjs';
import { measures, WANT_ALL_CORES } from './test-groups.ts';
import { standsFor, writePlan, type Plan } from './test-plan.ts';

const sourcesOf = (texts: Record<string, string>) =>
  new Map(Object.entries(texts).map(([path, text]) => [path, { path, text } as Source]));

const MEASURING = 'tests/attacks/a.test.ts';
const sources = sourcesOf({
  'tests/faults/x.test.ts': '',
  'tests/x.test.ts': '',
  'tests/y.test.ts': '',
  'tests/e2e/a.test.ts': '',
  'tests/kubernetes/a.test.ts': 'await runInCluster(work);',
  [MEASURING]: 'await scene.unharmed(attack);',
  'packages/db/src/a.test.ts': '',
});

function planOf(parts: Parameters<typeof writePlan>[0]) {
  const { file, remove } = writePlan(parts, sources, { lanes: 2, timeoutMs: 1, took: [] });
  return { plan: JSON.parse(readFileSync(file, 'utf8')) as Plan, remove };
}

test('those of which one runs at a time begin first, then what takes longest, and a cluster comes last', () => {
  const { plan, remove } = planOf([{ files: [...sources.keys()] }]);
  assert.deepEqual(
    plan.first.map(({ name, kind }) => [name, kind]),
    [
      [MEASURING, 'measures'],
      ['tests/e2e/a.test.ts', 'browser'],
      ['tests/x.test.ts and 1 more', undefined],
      ['tests/faults/x.test.ts', undefined],
      ['packages/db/src/a.test.ts', undefined],
    ],
  );
  assert.deepEqual(
    plan.last.map(({ name }) => name),
    ['tests/kubernetes/a.test.ts'],
  );
  remove();
  assert.equal(existsSync(plan.first[2]!.file), false);
});

test('a group is one file of suites that are named by their files', () => {
  const { plan, remove } = planOf([{ files: ['tests/faults/x.test.ts', 'tests/x.test.ts', 'tests/y.test.ts'] }]);
  const [together, alone] = plan.first;
  assert.equal(alone!.file, 'tests/faults/x.test.ts');
  const text = readFileSync(together!.file, 'utf8');
  assert.match(text, /describe\("tests\/x\.test\.ts", \(\) => import\("file:.*\/tests\/x\.test\.ts"\)\);/);
  assert.equal(standsFor(together!.file, 'tests/x.test.ts'), 'tests/x.test.ts');
  assert.equal(standsFor('/somewhere/tests/e2e/a.test.ts', 'a suite'), undefined);
  remove();
});

test('on another server a file has that server in its environment, and a name of its own', () => {
  const file = 'packages/db/src/a.test.ts';
  const env = { TEST_DATABASE_URL: 'postgresql://there' };
  const { plan, remove } = planOf([{ files: [file], env, suffix: ' on another server' }, { files: [file] }]);
  const [there, here] = plan.first;
  assert.deepEqual([there!.name, here!.name], [`${file} on another server`, file]);
  assert.match(readFileSync(there!.file, 'utf8'), /process\.env, \{"TEST_DATABASE_URL":"postgresql:\/\/there"\}/);
  assert.equal(here!.file, file);
  remove();
});

test('who measures is told when others are beside him, and can be run without that', () => {
  const { plan, remove } = planOf([{ files: [MEASURING, 'tests/faults/x.test.ts'] }]);
  assert.match(readFileSync(plan.first[0]!.file, 'utf8'), /"TROUPE_BESIDE":"1"/);
  assert.equal(plan.first[0]!.alone, MEASURING);
  remove();
  const named = planOf([{ files: [MEASURING] }]);
  assert.deepEqual(named.plan.first, [{ file: MEASURING, name: MEASURING, silentMs: 300_000 }]);
  named.remove();
});

test('who keeps all cores busy by himself is tried alone at once', () => {
  const known = new Map(readSources(ROOT).map((source) => [source.path, source]));
  const files = [...WANT_ALL_CORES, MEASURING];
  assert.deepEqual(
    WANT_ALL_CORES.filter((file) => !measures(file, known)),
    [],
  );
  const { file, remove } = writePlan([{ files }], new Map([...known, ...sources]), {
    lanes: 2,
    timeoutMs: 1,
    took: [],
  });
  const plan = JSON.parse(readFileSync(file, 'utf8')) as Plan;
  assert.deepEqual(
    plan.first.map(({ name }) => name),
    [MEASURING],
  );
  assert.deepEqual(plan.last.map((one) => one.file).toSorted(), WANT_ALL_CORES.toSorted());
  remove();
});

test('who hangs is waited for five times as long as he takes, and five minutes at least', () => {
  const slow = 'tests/swarm/swarm.test.ts';
  const { plan, remove } = planOf([{ files: [slow, 'tests/faults/x.test.ts'] }]);
  const silent = Object.fromEntries(plan.first.map(({ name, silentMs }) => [name, silentMs]));
  assert.equal(silent['tests/faults/x.test.ts'], 300_000);
  assert.ok(silent[slow]! > 300_000, `${silent[slow]}`);
  remove();
});
