import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { secondsOfChildren, watchCores, watchWork } from './machine-time.ts';

test('cores that nobody used are those that are not busy, since the last look', () => {
  let [at, busy] = [0, 0];
  const idle = watchCores(
    2,
    () => busy,
    () => at,
  );
  [at, busy] = [1000, 500];
  assert.equal(idle(), 1.5);
  [at, busy] = [2000, 2500];
  assert.equal(idle(), 0);
  [at, busy] = [3000, 6500];
  assert.equal(idle(), 0, 'a machine may have more cores than we may use');
});

test('time of a process that has ended is counted', { skip: process.platform !== 'linux' }, () => {
  const before = secondsOfChildren()!;
  const work = 'while (process.cpuUsage().user < 200_000);';
  spawnSync(process.execPath, ['-e', work]);
  assert.ok(secondsOfChildren()! - before >= 0.1);
});

test('work of all is counted from the first look on', () => {
  let busy = 5000;
  const worked = watchWork(() => busy);
  assert.equal(worked(), 0);
  busy = 7500;
  assert.equal(worked(), 2.5);
});
