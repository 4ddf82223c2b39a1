import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createDatabase, type Database } from '@troupe/db';
import { silentLog } from '@troupe/kernel';
import { startPair, type Pair } from '@troupe/testing/database/pair';
import { startService, type ServiceProcess } from '@troupe/testing/processes/service';
import { send } from '@troupe/testing/services/people';
import { startLoad } from './rounds/load.ts';
import { createModel } from './rounds/model.ts';

/** How long nobody is answered, from the end of the primary on; the standby is promoted at once. */
const SILENCE_MS = 15_000;
/** Writes before it, and as many after it. */
const ENOUGH = 60;

/** Two servers in DATABASE_URL: a fail-over costs seconds, and no write that was answered. */
describe('the primary fails over', () => {
  let pair: Pair;
  let upstream: Awaited<ReturnType<typeof createModel>>;
  let folder: string;
  let backend: ServiceProcess;
  let web: ServiceProcess;
  let db: Database;
  const start = (app: 'web' | 'backend', name: string, more: Record<string, string> = {}) =>
    startService(app, {
      DATABASE_URL: pair.url,
      OPENROUTER_API_KEY: 'k',
      OPENROUTER_BASE_URL: upstream.url,
      DATA_DIR: path.join(folder, name),
      ...more,
    });
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'troupe-failover-'));
    pair = await startPair();
    upstream = await createModel();
    backend = await start('backend', 'backend');
    web = await start('web', 'web', { BACKEND_URL: backend.address });
    db = createDatabase({ url: pair.url, log: silentLog });
  });
  after(async () => {
    await Promise.all([web?.kill('SIGKILL'), backend?.kill('SIGKILL')]);
    await db?.close();
    await upstream?.close();
    await pair?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test('within seconds, and every write that was answered is there once', async (t) => {
    const load = await startLoad({ db, address: web.address });
    const ready = async () => (await send(`${web.address}/ready`, 'GET')).status === 200;
    const more = async (count: number) => {
      for (let seen = 0; seen < count; seen += load.times().length) await delay(50);
    };
    try {
      await more(ENOUGH);
      await pair.kill();
      const killed = Date.now();
      await pair.promote();
      // the load goes on writing; whether it is answered again is asked on the side
      while (!(await ready())) {
        assert.ok(Date.now() - killed < SILENCE_MS, 'nobody is answered');
        await delay(20);
      }
      t.diagnostic(`ready again ${Date.now() - killed} ms after the end of the primary`);
      load.times();
      await more(ENOUGH);
    } finally {
      const { asked, answered, refusals } = await load.stop();
      t.diagnostic(`${answered} of ${asked} writes were answered; instead of that: ${JSON.stringify(refusals)}`);
    }
    assert.deepEqual(await load.look(), []);
  });

  test('a process that is started afterwards finds the new primary', async () => {
    const another = await start('backend', 'another');
    assert.equal((await send(`${another.address}/ready`, 'GET')).status, 200);
    await another.kill('SIGTERM');
  });
});
