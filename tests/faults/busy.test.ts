import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { startBackendProcess, type BackendProcess } from '@troupe/testing/processes/backend';
import { createDirector, steps, type Director } from '@troupe/testing/services/director';

/** A backend that has all it can do. */
const MOST = 16;
let database: TestDatabase;
let director: Director;
let dataDir: string;
let backend: BackendProcess;

before(async () => {
  database = await testDatabase();
  director = await createDirector();
  dataDir = mkdtempSync(path.join(tmpdir(), 'troupe-busy-'));
  backend = await startBackendProcess({
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    OPENROUTER_BASE_URL: director.provider.url,
    MAX_REQUESTS: String(MOST),
  });
});
after(async () => {
  await backend.end('SIGKILL');
  await director.provider.close();
  await database.drop();
  rmSync(dataDir, { recursive: true, force: true });
});

test(
  'more chats than it works on are told to come again, and it says that it lives',
  { timeout: 120_000 },
  async () => {
    await backend.ask('POST', '/api/deployments', { agentId: 'busy', config: { name: 'busy', plan: 'network' } });
    const chat = (session: string) => backend.chat('busy', steps({ wait: 'all', say: 'done' }), session);
    const chats: Promise<Response>[] = [];
    for (let n = 0; n < MOST; n += 1) {
      chats.push(chat(`s${n}`));
      while (director.calls.length <= n) await delay(10);
    }
    const refused = await chat('one more');
    const { error } = (await refused.json()) as { error: { message: string; type: string } };
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '2']);
    assert.equal(error.message, 'The service is busy. Try again in a moment.');
    for (const where of ['/health', '/ready', '/metrics'])
      assert.equal((await backend.send('GET', where)).status, 200, where);
    director.go('all');
    for (const answer of chats) assert.equal((await answer).status, 200);
    const again = chat('one more');
    await director.waits('all');
    director.go('all');
    assert.equal((await again).status, 200);
  },
);
