import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { testUser, testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { newId } from '@troupe/kernel';
import { newDefinition } from '@troupe/domain';
import { NOTHING_SPENT, type SessionEventBody } from '../session/events.ts';
import { createPgStore, unfinishedAgents } from './store-pg.ts';
import { createSqliteStore } from './store-sqlite.ts';
import { TODOS_KEPT, type AgentStore } from './store.ts';
import { makeAgentRow } from '../testing.ts';

/** One suite for both stores: what the agent relies on, and what a second process must not be able to break. */

interface Kind {
  open: (agentId: string, options?: { teamId?: string; now?: () => Date }) => Promise<AgentStore>;
  /** Of the agent's definition. */
  versions: (agentId: string) => Promise<number[]>;
  close: () => Promise<void>;
}

const user = (content: string): SessionEventBody => ({ type: 'user', content });
const said = (content: string): SessionEventBody => ({
  type: 'assistant',
  content,
  toolCalls: [],
  model: 'm',
  spent: { ...NOTHING_SPENT, turns: 1 },
  saw: 1,
});
const ended: SessionEventBody = { type: 'run_ended', outcome: 'done', spent: { ...NOTHING_SPENT, ms: 40 } };
const lease = (owner: string, ttlMs = 60_000) => ({ owner, ttlMs });
const web = { channel: 'web', key: 'k' };

async function pg(): Promise<Kind> {
  const database: TestDatabase = await testDatabase();
  return {
    async open(agentId, { teamId, now } = {}) {
      await testUser(database.db, 'u');
      await makeAgentRow(database.db, 'u', agentId);
      return createPgStore({ db: database.db, userId: 'u', agentId, teamId, now });
    },
    async versions(agentId) {
      const kept = database.db.system.selectFrom('agent_definitions').select('version').where('agent_id', '=', agentId);
      return (await kept.orderBy('version').execute()).map(({ version }) => version);
    },
    close: database.drop,
  };
}

async function sqlite(): Promise<Kind> {
  const folder = await mkdtemp(path.join(tmpdir(), 'agent-store-'));
  const opened: { close: () => void }[] = [];
  return {
    async open(agentId, { teamId, now } = {}) {
      const store = createSqliteStore({ file: path.join(folder, 'agent.db'), agentId, teamId, now });
      opened.push(store);
      return store;
    },
    async versions(agentId) {
      const db = new DatabaseSync(path.join(folder, 'agent.db'), { readOnly: true });
      const kept = db.prepare('select version from definitions where agent_id = ? order by version').all(agentId);
      db.close();
      return kept.map(({ version }) => Number(version));
    },
    async close() {
      for (const store of opened) store.close();
      await rm(folder, { recursive: true });
    },
  };
}

for (const [name, make] of Object.entries({ postgres: pg, sqlite })) {
  describe(`store: ${name}`, () => {
    let kind: Kind;
    before(async () => {
      kind = await make();
    });
    after(() => kind.close());

    async function fresh(options?: Parameters<Kind['open']>[1]): Promise<AgentStore> {
      const store = await kind.open(newId(), options);
      await store.saveDefinition(newDefinition({ name: 'A' }));
      return store;
    }

    test('definitions are numbered and the newest counts', async () => {
      const store = await kind.open(newId());
      assert.equal(await store.definition(), undefined);
      assert.equal(await store.saveDefinition(newDefinition({ name: 'A' })), 1);
      assert.equal(await store.saveDefinition(newDefinition({ name: 'B' })), 2);
      const newest = await store.definition();
      assert.deepEqual([newest?.version, newest?.definition.name], [2, 'B']);
    });

    test('the newest fifty definitions are kept, of each agent its own', async () => {
      const [id, other] = [newId(), newId()];
      const store = await kind.open(id);
      await (await kind.open(other)).saveDefinition(newDefinition({ name: 'Other' }));
      for (let n = 1; n <= 53; n += 1)
        assert.equal(await store.saveDefinition(newDefinition({ name: `Version ${n}` })), n);
      assert.deepEqual(
        await kind.versions(id),
        Array.from({ length: 50 }, (_, n) => n + 4),
      );
      assert.deepEqual(await kind.versions(other), [1]);
      assert.equal((await store.definition())?.definition.name, 'Version 53');
    });

    test('an input is delivered, claimed and answered', async () => {
      const store = await fresh();
      const first = await store.deliver({ to: web, events: [user('hello')], claim: lease('a') });
      assert.equal(first?.seq, 1);
      assert.equal(first?.claimed?.events[0]?.type, 'user');
      assert.equal(first?.claimed?.definition.name, 'A');
      const sessionId = first.session.id;
      const appended = await store.append(sessionId, {
        owner: 'a',
        expected: 1,
        events: [said('hi'), ended],
        release: 'idle',
        tokens: 7,
      });
      assert.deepEqual(appended, { ok: true, seq: 3 });
      assert.equal((await store.session(sessionId))?.status, 'idle');
      const again = await store.deliver({ to: { id: sessionId }, events: [user('more')], claim: lease('b') });
      assert.equal(again?.claimed?.tokensToday, 7);
      assert.deepEqual(
        again?.claimed?.events.map(({ seq, type }) => [seq, type]),
        [
          [1, 'user'],
          [2, 'assistant'],
          [3, 'run_ended'],
          [4, 'user'],
        ],
      );
      assert.equal(await store.deliver({ to: { id: 'nothing' }, events: [user('x')] }), undefined);
    });

    test('one holder at a time; what a former holder appends is refused', async () => {
      const store = await fresh();
      const first = await store.deliver({ to: web, events: [user('hello')], claim: lease('a', 1) });
      const id = first?.session.id ?? '';
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.deepEqual(await store.unfinished(), [id]);
      assert.ok(await store.claim(id, lease('b')));
      assert.equal(await store.claim(id, lease('c')), undefined);
      assert.deepEqual(await store.append(id, { owner: 'a', expected: 1, events: [said('late')] }), {
        ok: false,
        why: 'lost',
      });
      assert.deepEqual(await store.renew(id, lease('a')), { held: false, lastSeq: name === 'postgres' ? 0 : 1 });
      assert.deepEqual(await store.renew(id, lease('b')), { held: true, lastSeq: 1 });
      assert.deepEqual(await store.unfinished(), []);
      await store.release(id, 'b');
      assert.deepEqual(await store.unfinished(), [id]);
    });

    test('an append that does not know the newest event stores nothing', async () => {
      const store = await fresh();
      const first = await store.deliver({ to: web, events: [user('one')], claim: lease('a') });
      const id = first?.session.id ?? '';
      const second = await store.deliver({ to: web, events: [user('two')], claim: lease('b') });
      assert.equal(second?.claimed, undefined);
      const end = { owner: 'a', expected: 1, events: [ended], release: 'idle' as const };
      assert.deepEqual(await store.append(id, end), { ok: false, why: 'conflict' });
      assert.equal((await store.events(id, { after: 0, limit: 10 })).length, 2);
      assert.deepEqual(await store.append(id, { ...end, expected: 2 }), { ok: true, seq: 3 });
    });

    test('the same input id is taken once, also at once', async () => {
      const store = await fresh();
      const deliver = () => store.deliver({ to: web, events: [user('one')], inputId: 'x' });
      const both = await Promise.all([deliver(), deliver(), deliver()]);
      assert.deepEqual(
        both.map((one) => one?.seq),
        [1, 1, 1],
      );
      assert.equal(both.filter((one) => one?.duplicate).length, 2);
    });

    test('what a compaction stands for is not loaded, and stays in the log', async () => {
      const store = await fresh();
      const first = await store.deliver({ to: web, events: [user('1'), user('2'), user('3')], claim: lease('a') });
      const id = first?.session.id ?? '';
      const compaction: SessionEventBody = {
        type: 'compaction',
        summary: 's',
        upTo: 2,
        spent: NOTHING_SPENT,
        run: { seq: 1 },
      };
      await store.append(id, { owner: 'a', expected: 3, events: [compaction], release: 'open' });
      const claimed = await store.claim(id, lease('b'));
      assert.deepEqual(
        claimed?.events.map(({ seq }) => seq),
        [3, 4],
      );
      assert.equal((await store.events(id, { after: 0, limit: 10 })).length, 4);
    });

    test('an approval waits, is listed, and is decided once', async () => {
      const store = await fresh();
      const first = await store.deliver({ to: web, events: [user('go')], claim: lease('a') });
      const id = first?.session.id ?? '';
      const asked: SessionEventBody = {
        type: 'approval_requested',
        approvalId: 'p',
        callId: 'c',
        tool: 'shell',
        args: '{}',
      };
      await store.append(id, { owner: 'a', expected: 1, events: [asked], release: 'waiting' });
      assert.equal((await store.session(id))?.status, 'waiting');
      assert.deepEqual(
        (await store.pendingApprovals()).map(({ approvalId, tool }) => [approvalId, tool]),
        [['p', 'shell']],
      );
      const results = await Promise.all([store.decide('p', true, 'me'), store.decide('p', false, 'you')]);
      assert.equal(results.filter((result) => result === 'decided').length, 1);
      assert.ok(results.some((result) => typeof result === 'object' && result.sessionId === id));
      assert.equal(await store.decide('q', true, 'me'), 'unknown');
      assert.deepEqual(await store.pendingApprovals(), []);
      assert.equal((await store.session(id))?.status, 'open');
    });

    test('memory: found by words, replaced by key, bounded in number and time', async () => {
      let now = new Date('2030-01-01T00:00:00Z');
      const store = await fresh({ now: () => now });
      const bounds = { maxEntries: 3, ttlDays: 10 };
      const remember = async (content: string, key?: string) => {
        now = new Date(now.getTime() + 1000);
        return store.remember({ scope: 'agent', content, key }, bounds);
      };
      const contents = async (query?: string) =>
        (await store.recall({ scope: 'agent', query, limit: 10 })).map(({ content }) => content);
      await remember('The harbour opens at nine');
      const blue = await remember('Her favourite colour is blue', 'colour');
      await remember('Her favourite colour is green', 'colour');
      await remember('Invoices go to the accountant');
      assert.deepEqual(await contents('which colours does she like?'), ['Her favourite colour is green']);
      assert.deepEqual(await contents('harb'), ['The harbour opens at nine']);
      assert.deepEqual(await contents('anything being used?'), [], 'what is left without its ending says too little');
      assert.deepEqual(await contents('some thing'), []);
      assert.deepEqual(await contents('"; drop table :* | & !'), []);
      assert.equal((await contents()).length, 3);
      await remember('A fourth fact');
      assert.deepEqual(await contents('harbour'), [], 'the oldest went');
      assert.equal((await store.editMemory(blue.id, 'It is red now', bounds))?.content, 'It is red now');
      assert.deepEqual(await contents('green'), []);
      assert.deepEqual(await contents('red'), ['It is red now']);
      assert.equal(await store.forget(blue.id), true);
      assert.equal(await store.forget(blue.id), false);
      now = new Date(now.getTime() + 11 * 86_400_000);
      assert.deepEqual(await contents(), [], 'their time is over');
    });

    test('a team’s memory and todos are shared, an agent’s own are not', async () => {
      const teamId = newId();
      const [one, two] = [await fresh({ teamId }), await fresh({ teamId })];
      const bounds = { maxEntries: 10, ttlDays: 10 };
      const shared = await one.remember({ scope: 'team', content: 'shared fact' }, bounds);
      const own = await one.remember({ scope: 'agent', content: 'own fact' }, bounds);
      assert.deepEqual(
        (await two.recall({ scope: 'team', query: 'fact', limit: 5 })).map(({ content }) => content),
        ['shared fact'],
      );
      assert.deepEqual(await two.recall({ scope: 'agent', limit: 5 }), []);
      assert.equal(await two.forget(own.id), false);
      assert.equal(await two.forget(shared.id), true);
      await Promise.all([one.addTodos('team', ['a', 'b']), two.addTodos('team', ['c'])]);
      assert.deepEqual(
        (await one.todos('team')).map(({ id }) => id),
        ['1', '2', '3'],
      );
      assert.equal((await two.setTodo('team', '2', 'completed'))?.status, 'completed');
      assert.equal(await two.setTodo('team', '9', 'completed'), undefined);
      assert.deepEqual(await one.todos('agent'), []);
    });

    test('log, messages and figures are those of what happened', async () => {
      const store = await fresh();
      await store.log({ level: 'info', message: 'one', source: 's' });
      await store.log({ level: 'error', message: 'two', source: 's' });
      const { logs, total } = await store.logs({ limit: 1 });
      assert.deepEqual([logs[0]?.message, total], ['two', 2]);
      assert.deepEqual(
        (await store.logs({ limit: 5, level: 'info' })).logs.map(({ message }) => message),
        ['one'],
      );
      const later = await store.logs({ limit: 5, after: logs[0]?.id ?? '' });
      assert.deepEqual(later, { logs: [], total: 0 });

      const first = await store.deliver({ to: web, events: [user('hello')], claim: lease('a') });
      const id = first?.session.id ?? '';
      const lines = [{ level: 'warn' as const, message: 'three', source: 'run' }];
      const end = { owner: 'a', expected: 1, events: [said('hi'), ended], release: 'idle' as const, lines };
      await store.append(id, { ...end, expected: 7 });
      await store.append(id, end);
      const [line, ...older] = (await store.logs({ limit: 5 })).logs;
      assert.deepEqual([line?.level, line?.message, line?.source], ['warn', 'three', 'run']);
      assert.equal(older.length, 2, 'a step that is refused says nothing');
      const { messages, total: count } = await store.messages({ limit: 5, offset: 0 });
      assert.equal(count, 2);
      assert.deepEqual(
        messages.map(({ sender, content, platform }) => [sender, content, platform]),
        [
          ['agent', 'hi', 'web'],
          ['user', 'hello', 'web'],
        ],
      );
      assert.deepEqual({ ...(await store.stats(new Date())) }, { runs: 1, failed: 0, averageMs: 40, lastHour: 1 });
    });

    test('channel state lasts', async () => {
      const store = await fresh();
      assert.deepEqual(await store.channelState('telegram'), {});
      await store.changeChannelState('telegram', () => ({ offset: 5 }));
      await store.changeChannelState('telegram', () => ({ offset: 6 }));
      assert.deepEqual(await store.channelState('telegram'), { offset: 6 });
      const count = () => store.changeChannelState('telegram', ({ n }) => ({ n: Number(n ?? 0) + 1 }));
      await Promise.all(Array.from({ length: 10 }, count));
      assert.deepEqual(await store.channelState('telegram'), { n: 10 }, 'no change is lost');
    });

    test('takes whatever a tool may print', async () => {
      const store = await fresh();
      const odd = `zero \0, half ${'😀'.slice(0, 1)}, \\u0000 and 😀`;
      const delivered = await store.deliver({ to: web, events: [user(odd)] });
      const [event] = await store.events(delivered?.session.id ?? '', { after: 0, limit: 1 });
      assert.match(event?.type === 'user' ? event.content : '', /^zero ., half ., \\u0000 and 😀$/su);
      await store.remember({ scope: 'agent', key: 'k\0', content: odd }, { maxEntries: 5, ttlDays: 5 });
      await store.addTodos('agent', [odd]);
      await store.log({ level: 'info', message: odd, source: 's' });
      await store.changeChannelState('c', () => ({ odd }));
    });

    test('completed todos that are far back are forgotten, open ones stay', async () => {
      const store = await fresh();
      const many = (count: number) => Array.from({ length: count }, (_, n) => `todo ${n}`);
      await store.addTodos('agent', many(3));
      await store.setTodo('agent', '1', 'completed');
      await store.setTodo('agent', '3', 'completed');
      await store.addTodos('agent', many(TODOS_KEPT - 1));
      const kept = (await store.todos('agent')).map(({ id }) => id);
      assert.deepEqual([kept[0], kept[1], kept.length], ['2', '3', TODOS_KEPT + 1]);
    });

    test('a reset takes conversation, memory and todos, and leaves the definition', async () => {
      const store = await fresh();
      const first = await store.deliver({ to: web, events: [user('hello')], claim: lease('a') });
      await store.remember({ scope: 'agent', content: 'fact' }, { maxEntries: 5, ttlDays: 5 });
      await store.addTodos('agent', ['x']);
      await store.reset();
      assert.deepEqual(await store.sessions({ limit: 5, offset: 0 }), []);
      assert.deepEqual(await store.recall({ scope: 'agent', limit: 5 }), []);
      assert.deepEqual(await store.todos('agent'), []);
      assert.ok(await store.definition());
      const late = await store.append(first?.session.id ?? '', { owner: 'a', expected: 1, events: [said('x')] });
      assert.deepEqual(late, { ok: false, why: 'lost' });
    });
  });
}

describe('store: postgres, between users', () => {
  test('another user’s store sees and changes nothing, and the host finds unfinished work of all', async () => {
    const { db, drop } = await testDatabase();
    try {
      await testUser(db, 'owner');
      await makeAgentRow(db, 'owner', 'a1');
      const own = createPgStore({ db, userId: 'owner', agentId: 'a1' });
      await own.saveDefinition(newDefinition({ name: 'A' }));
      const delivered = await own.deliver({ to: web, events: [user('secret')] });
      const other = createPgStore({ db, userId: 'other', agentId: 'a1' });
      assert.equal(await other.definition(), undefined);
      await assert.rejects(other.saveDefinition(newDefinition({ name: 'B' })));
      await assert.rejects(other.deliver({ to: { channel: 'x', key: 'y' }, events: [user('x')] }));
      assert.equal(await other.deliver({ to: { id: delivered?.session.id ?? '' }, events: [user('x')] }), undefined);
      assert.deepEqual(await other.messages({ limit: 5, offset: 0 }), { messages: [], total: 0 });
      assert.deepEqual(await unfinishedAgents(db, 10), [{ userId: 'owner', agentId: 'a1' }]);
    } finally {
      await drop();
    }
  });
});
