import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { migrate, startEmbedded } from '@troupe/db';
import { scriptEnv } from '@troupe/testing/backups/scripts';
import { testDatabase } from '@troupe/testing/database/server';
import { silentLog, systemClock } from '@troupe/kernel';
import { createLedger, USD } from '@troupe/ledger';

const SCRIPT = path.resolve(import.meta.dirname, '../../scripts/ledger-verify.ts');

function verify(env: Record<string, string>): Promise<{ code: number; out: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [SCRIPT], { env: { ...scriptEnv(), ...env } }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), out: stdout + stderr }),
    );
  });
}

test('books that are right end with 0, broken ones with 1 and the row', async () => {
  const database = await testDatabase();
  const env = { DATABASE_URL: database.url };
  await database.db.asSystem((tx) => createLedger({ clock: systemClock }).open(tx, [{ id: 'x', asset: USD }]));
  const right = await verify(env);
  assert.equal(right.code, 0, right.out);
  assert.doesNotMatch(right.out, /BROKEN/);
  await sql`update ledger_accounts set balance = 5 where id = 'x'`.execute(database.db.system);
  const broken = await verify(env);
  assert.equal(broken.code, 1);
  assert.match(broken.out, /BROKEN {2}a balance is the sum of its entries\n {8}x: 5 instead of 0/);
  await database.drop();
});

test('the embedded database is found while it runs and when it does not', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'troupe-verify-'));
  const env = { DATA_DIR: dataDir };
  const none = await verify(env);
  assert.deepEqual([none.code, /There is no database in/.test(none.out)], [1, true]);
  const server = await startEmbedded({ dataDir, log: silentLog });
  await migrate({ url: server.url, log: silentLog });
  const running = await verify(env);
  assert.equal(running.code, 0, running.out);
  await server.stop();
  const stopped = await verify(env);
  assert.equal(stopped.code, 0, stopped.out);
  await rm(dataDir, { recursive: true, force: true });
});
