import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { testDatabase, testUser, type TestDatabase } from '@troupe/testing/database/server';
import { newDefinition } from '@troupe/domain';
import { newId } from '@troupe/kernel';
import { NOTHING_SPENT, type SessionEventBody } from '../session/events.ts';
import { makeAgentRow } from '../testing.ts';
import { createPgStore } from './store-pg.ts';
import { createSqliteStore } from './store-sqlite.ts';
import type { AgentStore } from './store.ts';

/** Conversations as people keep them, in both stores. */

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
const web = { channel: 'web', key: 'k' };

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.drop());

async function postgres(): Promise<AgentStore> {
  const agentId = newId();
  await testUser(database.db, 'u');
  await makeAgentRow(database.db, 'u', agentId);
  return createPgStore({ db: database.db, userId: 'u', agentId });
}

const sqlite = async (): Promise<AgentStore> => createSqliteStore({ file: ':memory:', agentId: newId() });

for (const [name, make] of Object.entries({ postgres, sqlite })) {
  describe(`conversations: ${name}`, () => {
    async function open(): Promise<AgentStore> {
      const store = await make();
      await store.saveDefinition(newDefinition({ name: 'A' }));
      return store;
    }

    test('a conversation has branches, a title and a place, and is found by its words', async () => {
      const store = await open();
      const root = (await store.deliver({ to: web, events: [user('Nach KÖLN'), said('Gut'), ended] }))!.session.id;
      const closing = { type: 'run_ended', outcome: 'cancelled', spent: NOTHING_SPENT } as const;
      const branching = { at: 1, key: 'k~1', closing: [closing] };
      const made = (await store.branch(root, branching))!;
      assert.equal(await store.branch(root, branching), made, 'the same key is the same branch');
      assert.equal(await store.branch('nobody', branching), undefined);
      const steps = await store.events(made, { after: 0, limit: 10 });
      assert.deepEqual(
        steps.map(({ seq, type }) => [seq, type]),
        [
          [1, 'user'],
          [2, 'run_ended'],
        ],
      );
      assert.deepEqual(
        new Map((await store.branches(made)).map(({ id, branchOf, branchAt }) => [id, [branchOf, branchAt]])),
        new Map<string, unknown[]>([
          [root, [null, null]],
          [made, [root, 1]],
        ]),
      );
      const other = (await store.deliver({ to: { channel: 'web', key: 'other' }, events: [user('Anderes')] }))!.session
        .id;
      await store.deliver({ to: { id: made }, events: [user('weiter')] });
      const listed = async (more: object) =>
        (await store.sessions({ limit: 9, offset: 0, latest: true, ...more })).map(({ id }) => id);
      assert.deepEqual(new Set(await listed({})), new Set([made, other]));
      assert.equal(await store.describe(root, { title: 'Reise', pinned: true, archived: true }), true);
      const branch = await store.session(made);
      assert.deepEqual([branch?.title, branch?.pinned, branch?.archived], ['Reise', true, true]);
      assert.deepEqual(await listed({ archived: false }), [other]);
      assert.deepEqual(
        (await store.search('köln', { limit: 9 })).map(({ sessionId, seq, title }) => [sessionId, seq, title]),
        [[root, 1, 'Reise']],
      );
      assert.equal((await store.messages({ limit: 9, offset: 0 })).total, 4);
      assert.equal((await store.stats(new Date())).runs, 2);
      assert.equal(await store.removeConversation(made), true);
      assert.equal(await store.session(root), undefined);
      assert.equal(await store.removeConversation(made), false);
    });

    test('what came in through a channel is listed, the newest first, of one key or of many', async () => {
      const store = await open();
      const say = async (channel: string, key: string, text: string) =>
        (await store.deliver({ to: { channel, key }, events: [user(text)] }))!.session.id;
      const first = await say('a2a', 'me:1', 'one');
      await say('a2a', 'me:1', 'two');
      const other = await say('a2a', 'you:1', 'three');
      await say('web', 'me:1', 'elsewhere');
      const list = async (more: object) => store.inputs({ channel: 'a2a', limit: 2, offset: 0, ...more });
      const all = await list({ limit: 9 });
      assert.equal(all.total, 3);
      assert.deepEqual(new Set(all.inputs.map(({ sessionId }) => sessionId)), new Set([first, other]));
      assert.deepEqual(await list({ keys: 'me:', limit: 1 }), { inputs: [{ sessionId: first, seq: 2 }], total: 2 });
      assert.deepEqual(await list({ keys: 'me:', offset: 2 }), { inputs: [], total: 2 });
      assert.deepEqual(await list({ key: 'you:1' }), { inputs: [{ sessionId: other, seq: 1 }], total: 1 });
      assert.deepEqual(await list({ keys: 'me:', key: 'you:1' }), { inputs: [], total: 0 });
    });

    test('what was asked lately with a tool is told, the newest first, without questions and copies', async () => {
      const store = await open();
      const opened = await store.deliver({ to: web, events: [user('go')], claim: { owner: 'a', ttlMs: 60_000 } });
      const id = opened?.session.id ?? '';
      const asked = (n: number, more: object = {}): SessionEventBody => ({
        type: 'approval_requested',
        approvalId: `p${n}`,
        callId: `c${n}`,
        tool: 'shell',
        args: String(n),
        ...more,
      });
      for (const [index, event] of [
        asked(1),
        asked(2, { tool: 'fetch' }),
        asked(3, { question: { message: 'Which?' } }),
        asked(4, { args: 'x'.repeat(30_000) }),
        asked(5),
      ].entries())
        await store.append(id, { owner: 'a', expected: index + 1, events: [event] });
      await store.branch(id, { at: 6, key: 'dashboard~b', closing: [] });
      const found = await store.askedLately('shell', 10);
      assert.deepEqual(
        found.map((args) => args.slice(0, 3)),
        ['5', 'xxx', '1'],
      );
      assert.equal(found[1]!.length, 20_000);
      assert.deepEqual(await store.askedLately('shell', 1), ['5']);
      assert.deepEqual(await store.askedLately('browser', 10), []);
    });
  });
}
