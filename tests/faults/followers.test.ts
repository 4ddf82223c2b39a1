import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { eventsOf } from '@troupe/contract';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { startBackendProcess, type BackendProcess } from '@troupe/testing/processes/backend';
import { createDirector, steps, type Director } from '@troupe/testing/services/director';

/** Two processes of the backend: what one stores is heard at the other, whatever becomes of the connection for it. */
let database: TestDatabase;
let director: Director;
let dataDir: string;
const running: BackendProcess[] = [];

before(async () => {
  database = await testDatabase();
  director = await createDirector();
  dataDir = mkdtempSync(path.join(tmpdir(), 'troupe-followers-'));
  for (let n = 0; n < 2; n += 1)
    running.push(
      await startBackendProcess({
        DATABASE_URL: database.url,
        DATA_DIR: dataDir,
        OPENROUTER_BASE_URL: director.provider.url,
      }),
    );
});
after(async () => {
  for (const backend of running) await backend.end('SIGKILL');
  await director.provider.close();
  await database.drop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Ends the connections on which the processes listen, once there are any again. */
async function cut(): Promise<void> {
  const login = new pg.Client({ connectionString: database.url });
  await login.connect();
  for (let ended = 0; ended === 0; await delay(20)) {
    const { rowCount } = await login.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'troupe-listener' and datname = current_database()`);
    ended = rowCount ?? 0;
  }
  await login.end();
}

test('who follows at one hears everything that the other does, once and in order', { timeout: 120_000 }, async () => {
  const [here, there] = running as [BackendProcess, BackendProcess];
  await here.ask('POST', '/api/deployments', { agentId: 'heard', config: { name: 'heard', plan: 'solo' } });
  const say = async (content: string): Promise<void> => {
    const answer = await there.chat('heard', steps({ say: content }), 's');
    assert.equal(answer.status, 200, await answer.text());
  };
  await say('first');
  const { id } = (await there.log('heard', 's'))!;
  const stream = await here.send('GET', `/api/runtime/proxy/heard/sessions/${id}/events`, undefined, {
    accept: 'text/event-stream',
  });
  const heard: number[] = [];
  let ends = 0;
  const words = 12;
  const read = (async () => {
    for await (const { id: seq, event } of eventsOf(stream)) {
      if (seq !== undefined) heard.push(Number(seq));
      if (event === 'run_ended') ends += 1;
      if (ends === words) return;
    }
  })();
  for (let word = 2; word <= words; word += 1) {
    if (word % 4 === 0) await cut();
    await say(`word ${word}`);
  }
  await read;
  const { events } = (await there.log('heard', 's'))!;
  assert.deepEqual(
    heard,
    events.map(({ seq }) => seq),
  );
});
