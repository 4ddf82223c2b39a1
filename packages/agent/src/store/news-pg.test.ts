import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { sessionWentOn } from '@troupe/contract';
import { createListener, type Database, type Listener } from '@troupe/db';
import { silentLog } from '@troupe/kernel';
import { testDatabase } from '@troupe/testing/database/server';
import { makeAgentRow, testAgent, web } from '../testing.ts';
import type { SessionEvent } from '../session/events.ts';
import { createPgNews, type PgNews } from './news-pg.ts';
import { createPgStore } from './store-pg.ts';

/** Long enough that nothing in these tests can come from looking. */
const NEVER_MS = 3_600_000;
const event = (content: string) => ({ type: 'user' as const, content, from: 'test' });

describe('following what another process stores', { timeout: 120_000 }, () => {
  let database: { db: Database; url: string; drop: () => Promise<void> };
  const open: { news: PgNews; listener: Listener }[] = [];
  let agents = 0;

  before(async () => {
    database = await testDatabase();
  });
  after(async () => {
    for (const { news, listener } of open) {
      await news.close();
      await listener.close();
    }
    await database.drop();
  });

  const process = ({ pollMs = NEVER_MS, netMs = NEVER_MS } = {}) => {
    const listener = createListener({ url: database.url, log: silentLog });
    const news = createPgNews({ db: database.db, listener, log: silentLog, pollMs, netMs });
    open.push({ news, listener });
    return { news, listener };
  };
  const newAgent = async () => {
    const agentId = `agent-${(agents += 1)}`;
    await makeAgentRow(database.db, 'u', agentId);
    return { agentId, store: createPgStore({ db: database.db, userId: 'u', agentId }) };
  };
  const login = async <T extends pg.QueryResultRow>(text: string): Promise<T[]> => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      return (await client.query<T>(text)).rows;
    } finally {
      await client.end();
    }
  };
  const isFollowed = async (sessionId: string): Promise<boolean> =>
    (
      await database.db.system
        .selectFrom('agent_followers')
        .select('follower')
        .where('session_id', '=', sessionId)
        .execute()
    ).length > 0;
  const until = async (holds: () => Promise<boolean>): Promise<void> => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  /** What a reader hears, as it comes. */
  const reader = (
    agent: { follow: (id: string, after: number, signal: AbortSignal) => AsyncIterable<unknown> },
    id: string,
  ) => {
    const gone = new AbortController();
    const heard: SessionEvent[] = [];
    const target = new EventTarget();
    const ended = (async () => {
      for await (const live of agent.follow(id, 0, gone.signal)) {
        const { kind, event: one } = live as { kind: string; event: SessionEvent };
        if (kind !== 'event') continue;
        heard.push(one);
        target.dispatchEvent(new Event('heard'));
      }
    })();
    return {
      heard,
      ended,
      async has(count: number) {
        while (heard.length < count) await once(target, 'heard');
      },
      async leave() {
        gone.abort();
        await ended;
      },
    };
  };

  test('is by its notification, in order and once each, from whatever stores', async () => {
    const { agentId, store } = await newAgent();
    const { session } = (await store.deliver({ to: web, events: [event('0')] }))!;
    const here = await testAgent({ agentId, store, news: process().news });
    const read = reader(here.agent, session.id);
    await until(() => isFollowed(session.id));
    const elsewhere = await testAgent({ agentId, store: createPgStore({ db: database.db, userId: 'u', agentId }) });
    // by channel and key, by id, and the answers of a run
    const answer = await elsewhere.agent.ask({ to: web, content: 'one' });
    assert.equal(answer.sessionId, session.id);
    await store.deliver({ to: { id: session.id }, events: [event('by id'), event('and more')] });
    const stored = await store.events(session.id, { after: 0, limit: 100 });
    await read.has(stored.length);
    assert.deepEqual(
      read.heard.map(({ seq, type }) => [seq, type]),
      stored.map(({ seq, type }) => [seq, type]),
    );
    await read.leave();
    await until(async () => !(await isFollowed(session.id)));
  });

  test('who asks hears the answer of another process', async () => {
    const { agentId, store } = await newAgent();
    const gate = Promise.withResolvers<string>();
    const elsewhere = await testAgent({ agentId, store, script: () => gate.promise });
    const first = elsewhere.agent.ask({ to: web, content: 'one' });
    while (elsewhere.model.requests.length === 0) await new Promise(setImmediate);
    const here = await testAgent({
      agentId,
      store: createPgStore({ db: database.db, userId: 'u', agentId }),
      news: process().news,
    });
    const second = here.agent.ask({ to: web, content: 'two' });
    const { id } = (await store.sessions({ limit: 1, offset: 0 }))[0]!;
    await until(() => isFollowed(id));
    gate.resolve('from there');
    assert.equal((await second).reply, 'from there');
    await first;
    assert.equal(here.model.requests.length, 0);
  });

  test('the connection is killed again and again: nothing is missing, nothing comes twice', async () => {
    const { agentId, store } = await newAgent();
    const { session } = (await store.deliver({ to: web, events: [event('0')] }))!;
    // Only what the end and the new beginning of the connection bring about: no look in between.
    const here = await testAgent({ agentId, store, news: process().news });
    const read = reader(here.agent, session.id);
    await until(() => isFollowed(session.id));
    const total = 90;
    for (let number = 1; number < total; number += 1) {
      await store.deliver({ to: { id: session.id }, events: [event(String(number))] });
      if (number % 30 === 0)
        await login(`select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'troupe-listener' and datname = current_database()`);
    }
    await read.has(total);
    await read.leave();
    assert.deepEqual(
      read.heard.map(({ seq }) => seq),
      Array.from({ length: total }, (_, index) => index + 1),
    );
  });

  test('who begins to follow while others store misses nothing', async () => {
    const { news } = process();
    const { agentId, store } = await newAgent();
    const here = await testAgent({ agentId, store, news });
    for (let round = 0; round < 20; round += 1) {
      const to = { channel: 'web', key: `k${round}` };
      const { session } = (await store.deliver({ to, events: [event('0')] }))!;
      const read = reader(here.agent, session.id);
      await Promise.all([1, 2, 3].map((n) => store.deliver({ to: { id: session.id }, events: [event(String(n))] })));
      await read.has(4);
      await read.leave();
      assert.deepEqual(
        read.heard.map(({ seq }) => seq),
        [1, 2, 3, 4],
      );
    }
  });

  test(
    'a store that holds the session while somebody begins to follow is waited for, and found',
    { timeout: 30_000 },
    async () => {
      const { agentId, store } = await newAgent();
      const { session } = (await store.deliver({ to: web, events: [event('0')] }))!;
      const writer = new pg.Client({ connectionString: database.url });
      await writer.connect();
      // As a function that stores does it, stopped between its lock and its commit.
      await writer.query('begin');
      await writer.query(`select set_config('role', 'svc_user', true), set_config('app.user_id', 'u', true)`);
      await writer.query(
        'select agent_store_events(s, $2, null) from agent_sessions s where id = $1 for no key update',
        [session.id, JSON.stringify([event('1')])],
      );
      const here = await testAgent({ agentId, store, news: process().news });
      const read = reader(here.agent, session.id);
      await read.has(1);
      await until(async () => {
        const waiting = await login(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return waiting.length > 0;
      });
      await writer.query('update agent_sessions set last_seq = 2 where id = $1', [session.id]);
      await writer.query('commit');
      await writer.end();
      await read.has(2);
      await read.leave();
    },
  );

  test('sessions that nobody follows are told to nobody', async () => {
    const { news, listener } = process();
    const told: string[] = [];
    listener.on(sessionWentOn, (payload) => told.push(payload));
    const { store } = await newAgent();
    const silent = (await store.deliver({ to: { channel: 'web', key: 'silent' }, events: [event('0')] }))!.session;
    const loud = (await store.deliver({ to: { channel: 'web', key: 'loud' }, events: [event('0')] }))!.session;
    const heard = Promise.withResolvers<void>();
    const stop = news.watch(loud.id, (last) => last === 3 && heard.resolve());
    await until(() => isFollowed(loud.id));
    for (const { id } of [silent, loud, silent, loud]) await store.deliver({ to: { id }, events: [event('x')] });
    await heard.promise;
    stop();
    assert.ok(told.length > 0 && told.every((payload) => payload.startsWith(loud.id)), told.join());
  });

  test('without a connection that listens all are looked at in one query; a deleted agent’s readers are told', async () => {
    const deaf: Listener = { on: () => () => {}, close: async () => {} };
    const news = createPgNews({ db: database.db, listener: deaf, log: silentLog, pollMs: 20 });
    const { agentId, store } = await newAgent();
    const { session } = (await store.deliver({ to: web, events: [event('0')] }))!;
    const here = await testAgent({ agentId, store, news });
    const read = reader(here.agent, session.id);
    const rejected = assert.rejects(read.ended, { status: 404, message: 'Agent not found' });
    await read.has(1);
    await store.deliver({ to: { id: session.id }, events: [event('1')] });
    await read.has(2);
    await sql`delete from agents where id = ${agentId}`.execute(database.db.system);
    await rejected;
    await news.close();
  });

  test('what a process that died followed is forgotten', async () => {
    const { store } = await newAgent();
    const { session } = (await store.deliver({ to: web, events: [event('0')] }))!;
    const { db } = database;
    await sql`insert into agent_followers (session_id, follower, user_id, until)
      values (${session.id}, 'dead', 'u', now() - interval '1 second')`.execute(db.system);
    const { news } = process();
    const { session: other } = (await store.deliver({ to: { channel: 'web', key: 'o' }, events: [event('0')] }))!;
    const seen = Promise.withResolvers<void>();
    const stop = news.watch(other.id, () => seen.resolve());
    await seen.promise;
    stop();
    await until(async () => !(await isFollowed(session.id)));
  });
});
