import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createStandIn, type StandIn } from '@troupe/ai';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { SERVICE_KEY, startService } from '@troupe/testing/processes/service';

let upstream: StandIn;
let database: TestDatabase;

before(async () => {
  upstream = await createStandIn();
  database = await testDatabase();
});

after(async () => {
  await database.drop();
  await upstream.close();
});

async function startBackend() {
  const backend = await startService('backend', {
    DATABASE_URL: database.url,
    OPENROUTER_API_KEY: 'k',
    OPENROUTER_BASE_URL: upstream.url,
  });
  const call = async (user: string): Promise<number> => {
    const response = await fetch(`${backend.address}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SERVICE_KEY}`, 'content-type': 'application/json', 'x-user-id': user },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }] }),
    });
    await response.arrayBuffer();
    return response.status;
  };
  return { ...backend, call };
}

const recorded = async (user: string): Promise<number> =>
  (await database.db.system.selectFrom('usage_logs').select('id').where('user_id', '=', user).execute()).length;

const many = <T>(count: number, work: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, work));

describe('usage of a backend that ends', () => {
  it('by SIGTERM: every call that was answered is recorded', async () => {
    const { kill, call } = await startBackend();
    assert.deepEqual(new Set(await many(50, () => call('term'))), new Set([200]));
    assert.deepEqual(await kill('SIGTERM'), [0, null]);
    assert.equal(await recorded('term'), 50);
  });

  it('by SIGKILL: only calls that were not written yet may be missing, and what is there adds up', async () => {
    const { kill, call } = await startBackend();
    await many(20, () => call('kill'));
    while ((await recorded('kill')) < 20) await delay(20);
    await many(20, () => call('kill'));
    await kill('SIGKILL');
    const rows = await recorded('kill');
    assert.ok(rows >= 20 && rows <= 40, `${rows} rows`);
    const sums = await database.db.system
      .selectFrom('usage_daily')
      .select('calls')
      .where('user_id', '=', 'kill')
      .execute();
    assert.equal(
      sums.reduce((sum, row) => sum + Number(row.calls), 0),
      rows,
    );
  });
});
