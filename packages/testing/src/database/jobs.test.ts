import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { job } from '@troupe/contract';
import type { Runtime } from '@troupe/db';
import { z } from 'zod';
import { allJobsRan } from './jobs.ts';
import { testRuntime } from './runtime.ts';

const data = z.object({ n: z.number() });
const first = job({ queue: 'spied-first', data });
const second = job({ queue: 'spied-second', data });
const elsewhere = job({ queue: 'spied-elsewhere', data });

let runtime: Runtime;
const seen: string[] = [];
before(async () => {
  runtime = await testRuntime();
  const { jobs, db } = runtime;
  jobs.work(first, async ({ n }) => {
    await jobs.send(db.system, second, { n });
    seen.push(`first ${n}`);
    if (n === 2) throw new Error('broken');
  });
  jobs.work(second, async ({ n }) => void seen.push(`second ${n}`));
  jobs.define(elsewhere);
  await jobs.start();
});
after(() => runtime.close());

test('waits for what was sent and for what that sends, failed ones too, and for nothing that comes later', async () => {
  const { jobs, db } = runtime;
  await allJobsRan(jobs);
  await db.asSystem(async (tx) => {
    await jobs.send(tx, first, { n: 1 });
    await jobs.send(tx, first, { n: 2 });
  });
  await jobs.send(db.system, second, { n: 3 }, { startAfter: 3600 });
  await jobs.send(db.system, elsewhere, { n: 4 });
  await allJobsRan(jobs);
  assert.deepEqual(seen.toSorted(), ['first 1', 'first 2', 'second 1', 'second 2']);
});

test('refuses jobs that nobody watches', async () => {
  await assert.rejects(allJobsRan({ ...runtime.jobs }), /nobody watches/);
});
