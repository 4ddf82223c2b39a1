import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import pg from 'pg';
import { z } from 'zod';
import { signal } from '@troupe/contract';
import { createLog, silentLog } from '@troupe/kernel';
import { createListener, notify } from './notifications.ts';
import { testDatabase } from '@troupe/testing/database/server';

const news = signal({ channel: 'news', payload: z.string(), as: 'text' });

test('what a committed transaction tells is heard, also after the connection broke; a rolled back one tells nothing', async () => {
  const { db, url, drop } = await testDatabase();
  const listener = createListener({ url, log: silentLog });
  const heard = new EventTarget();
  const all: string[] = [];
  listener.on(news, (payload) => {
    all.push(payload);
    heard.dispatchEvent(new Event(payload));
  });
  // Told again and again until it is heard: listening begins a moment after `on`.
  const tell = async (payload: string) => {
    const done = once(heard, payload);
    const timer = setInterval(() => void db.asSystem((tx) => notify(tx, news, payload)), 50);
    await done;
    clearInterval(timer);
  };
  await tell('first');
  await assert.rejects(
    db.asSystem(async (tx) => {
      await notify(tx, news, 'never');
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

test('what does not fit a signal is logged and not heard, and a listener that throws keeps nobody from hearing', async (t) => {
  const { db, url, drop } = await testDatabase();
  const lines: string[] = [];
  const log = createLog({ level: 'info', service: 'test', destination: { write: (line) => void lines.push(line) } });
  const listener = createListener({ url, log });
  t.after(async () => {
    await listener.close();
    await drop();
  });
  const counted = signal({ channel: 'counted', payload: z.object({ n: z.number() }) });
  const heard: number[] = [];
  const second = Promise.withResolvers<void>();
  const ready = Promise.withResolvers<void>();
  listener.on(counted, () => {
    throw new Error('a listener broke');
  });
  listener.on(counted, ({ n }) => {
    if (n > 0) heard.push(n);
    (n === 2 ? second : ready).resolve();
  });
  const timer = setInterval(() => void notify(db.system, counted, { n: 0 }), 50);
  await ready.promise;
  clearInterval(timer);
  const asText = { ...counted, payload: z.string(), as: 'text' } as const;
  await notify(db.system, counted, { n: 1 });
  for (const broken of ['not JSON', '{"n": "x"}', '']) await notify(db.system, asText, broken);
  await notify(db.system, counted, { n: 2 });
  await second.promise;
  assert.deepEqual(heard, [1, 2]);
  for (const why of ['not valid JSON', 'n must be a number', 'a listener broke'])
    assert.ok(
      lines.some((line) => line.includes('a signal was not heard') && line.includes(why)),
      why,
    );
});

test('one that is closed before it was connected ends', async () => {
  const { url, drop } = await testDatabase();
  const listener = createListener({ url, log: silentLog });
  listener.on(news, () => {});
  await listener.close();
  await drop();
});
