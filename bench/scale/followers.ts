import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { createPgNews, createPgStore, polledNews, type SessionNews } from '@troupe/agent';
import { createListener, type Database } from '@troupe/db';
import { silentLog, systemClock } from '@troupe/kernel';
import { testDatabase, testUser } from '@troupe/testing/database/server';
import { createRoster } from '@troupe/roster';
import { finish, printTable } from '../lib/report.ts';

/** Conversations that are followed while nothing happens in them, and how soon a word in one of them is heard of. */

const FOLLOWED = 500;
const IDLE_MS = 10_000;
const WORDS = 40;
const AGENT = '00000000-0000-4000-8000-000000000500';

async function transactions(db: Database): Promise<number> {
  // What a connection did is counted when it ends, if not before: one that is idle ends after three seconds.
  await delay(5_000);
  const { rows } = await sql<{ done: number }>`select (xact_commit + xact_rollback)::float8 as done
    from pg_stat_database where datname = current_database()`.execute(db.system);
  return rows[0]?.done ?? 0;
}

const middle = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Infinity;

interface Measured {
  perSecond: number;
  wordMs: number;
}

async function measure(db: Database, news: SessionNews, ids: readonly string[]): Promise<Measured> {
  const store = createPgStore({ db, userId: 'ann', agentId: AGENT });
  const heard = new EventTarget();
  const reached = new Map<string, number>();
  const stops = ids.map((id) =>
    news.watch(id, (told) => {
      if (typeof told !== 'number' || told <= (reached.get(id) ?? 0)) return;
      reached.set(id, told);
      heard.dispatchEvent(new Event(id));
    }),
  );
  while (reached.size < ids.length) await delay(20);
  const before = await transactions(db);
  const startedAt = performance.now();
  await delay(IDLE_MS);
  const done = (await transactions(db)) - before;
  const seconds = (performance.now() - startedAt) / 1000;
  const waits: number[] = [];
  for (const id of ids.slice(0, WORDS)) {
    const told = once(heard, id);
    await store.deliver({ to: { id }, events: [{ type: 'user', content: 'a word', from: 'bench' }] });
    const storedAt = performance.now();
    await told;
    waits.push(performance.now() - storedAt);
  }
  for (const stop of stops) stop();
  return { perSecond: done / seconds, wordMs: middle(waits) };
}

export async function benchFollowers(): Promise<void> {
  const { db, url, drop } = await testDatabase();
  await testUser(db, 'ann', { plan: 'network' });
  const { of } = createRoster({ db, clock: systemClock, sealKey: 'seal-of-tokens' });
  await of('ann').add([{ id: AGENT, userId: 'ann', name: 'A', plan: 'network', status: 'running', model: 'm' }], 1);
  const store = createPgStore({ db, userId: 'ann', agentId: AGENT });
  const ids: string[] = [];
  for (let number = 0; number < FOLLOWED; number += 1) {
    const to = { channel: 'api', key: String(number) };
    const made = await store.deliver({ to, events: [{ type: 'user', content: 'a word', from: 'bench' }] });
    ids.push(made?.session.id ?? '');
  }
  const listener = createListener({ url, log: silentLog });
  const news = createPgNews({ db, listener, log: silentLog });
  try {
    const heard = await measure(db, news, ids);
    const asked = await measure(db, polledNews(store, 500), ids);
    printTable(`${FOLLOWED} conversations followed in one process, nothing happens`, [
      { way: 'heard of', transactions_per_second: heard.perSecond, a_word_ms: heard.wordMs },
      { way: 'each looked at twice a second', transactions_per_second: asked.perSecond, a_word_ms: asked.wordMs },
    ]);
    finish(
      'scale followers',
      [
        { figure: 'idle_transactions_per_second', value: heard.perSecond, atMost: 5 },
        { figure: 'word_ms', value: heard.wordMs, atMost: Math.round(asked.wordMs) },
      ],
      { looked_at_transactions_per_second: asked.perSecond },
    );
  } finally {
    await news.close();
    await listener.close();
    await drop();
  }
}
