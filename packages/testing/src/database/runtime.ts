import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSecrets, memoryCounters, silentLog, systemClock, type Env } from '@troupe/kernel';
import { TEST_SECRETS, testSettings } from '../http/server.ts';
import { createJobs, createListener, type Runtime } from '@troupe/db';
import { spyOnJobs } from './jobs.ts';
import { testDatabase } from './server.ts';

/** What a service stands on in a test: an empty database and data folder of its own, known secrets, no log. */
export async function testRuntime(env: Env = {}): Promise<Runtime> {
  const database = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'troupe-data-'));
  const settings = testSettings({
    INTERNAL_API_KEY: TEST_SECRETS.internalKey,
    SESSION_SECRET: TEST_SECRETS.sessionSecret,
    WALLET_ENCRYPTION_KEY: 'wallet-test-key',
    DATA_DIR: dataDir,
    // What a test leaves under way is not waited for.
    STOP_WAIT_SECONDS: '0',
    ...env,
  });
  const jobs = spyOnJobs(createJobs({ url: database.url, log: silentLog }));
  const listener = createListener({ url: database.url, log: silentLog });
  return {
    settings,
    dataDir,
    log: silentLog,
    counters: memoryCounters(systemClock),
    secrets: loadSecrets(settings, dataDir),
    db: database.db,
    jobs,
    listener,
    databaseUrl: database.url,
    clock: systemClock,
    async close() {
      await jobs.stop();
      await listener.close();
      await database.drop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
