import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createStandIn, type StandIn } from '@troupe/ai';
import { testDatabase, type TestDatabase } from '@troupe/db';

const MAIN = path.resolve(import.meta.dirname, '../../apps/backend/src/main.ts');
const KEY = 'faults-internal-key-0123456789';

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

/** The backend as its own process, in the production profile. */
async function startBackend(): Promise<{ child: ChildProcess; call: (user: string) => Promise<number> }> {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      BACKEND_PORT: '0',
      DATABASE_URL: database.url,
      INTERNAL_API_KEY: KEY,
      SESSION_SECRET: 'faults-session-secret-0123456789',
      WALLET_ENCRYPTION_KEY: 'faults-wallet-key-0123456789',
      OPENROUTER_API_KEY: 'k',
      OPENROUTER_BASE_URL: upstream.url,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { address } = JSON.parse(line) as { address?: string };
    if (!address) continue;
    child.stdout.resume();
    const call = async (user: string): Promise<number> => {
      const response = await fetch(`${address}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', 'x-user-id': user },
        body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }] }),
      });
      await response.arrayBuffer();
      return response.status;
    };
    return { child, call };
  }
  throw new Error('the backend did not start');
}

const recorded = async (user: string): Promise<number> =>
  (await database.db.system.selectFrom('usage_logs').select('id').where('user_id', '=', user).execute()).length;

const many = <T>(count: number, work: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, work));

describe('usage of a backend that ends', () => {
  it('by SIGTERM: every call that was answered is recorded', async () => {
    const { child, call } = await startBackend();
    assert.deepEqual(new Set(await many(50, () => call('term'))), new Set([200]));
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    assert.equal(await recorded('term'), 50);
  });

  it('by SIGKILL: only calls of the last second may be missing, and what is there adds up', async () => {
    const { child, call } = await startBackend();
    await many(20, () => call('kill'));
    await delay(1_000);
    await many(20, () => call('kill'));
    child.kill('SIGKILL');
    await once(child, 'exit');
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
