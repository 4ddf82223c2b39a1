import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import pg from 'pg';
import { silentLog } from '@troupe/kernel';
import { createListener, notify } from './notifications.ts';
import { testDatabase } from './testing.ts';

test('what a committed transaction tells is heard, also after the connection broke; a rolled back one tells nothing', async () => {
  const { db, url, drop } = await testDatabase();
  const listener = createListener({ url, log: silentLog });
  const heard = new EventTarget();
  const all: string[] = [];
  listener.on('news', (payload) => {
    all.push(payload);
    heard.dispatchEvent(new Event(payload));
  });
  // Told again and again until it is heard: listening begins a moment after `on`.
  const tell = async (payload: string) => {
    const done = once(heard, payload);
    const timer = setInterval(() => void db.asSystem((tx) => notify(tx, 'news', payload)), 50);
    await done;
    clearInterval(timer);
  };
  await tell('first');
  await assert.rejects(
    db.asSystem(async (tx) => {
      await notify(tx, 'news', 'never');
      throw new Error('no');
    }),
  );
  const login = new pg.Client({ connectionString: url });
  await login.connect();
  await login.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'troupe-listener' and datname = current_database()",
  );
  await login.end();
  await tell('second');
  assert.equal(all.includes('never'), false);
  await listener.close();
  await drop();
});
