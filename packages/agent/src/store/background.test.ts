import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newDefinition } from '@troupe/domain';
import { newId } from '@troupe/kernel';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { NOTHING_SPENT } from '../session/events.ts';
import { makeAgentRow, web } from '../testing.ts';
import { createPgStore } from './store-pg.ts';
import { createSqliteStore } from './store-sqlite.ts';
import type { AgentStore } from './store.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.drop());

const lease = (owner: string, ttlMs = 60_000) => ({ owner, ttlMs });

const KINDS: Record<string, (agentId: string) => Promise<AgentStore>> = {
  async postgres(agentId) {
    await makeAgentRow(database.db, 'u', agentId);
    return createPgStore({ db: database.db, userId: 'u', agentId });
  },
  sqlite: async (agentId) => createSqliteStore({ file: ':memory:', agentId }),
};

for (const [name, open] of Object.entries(KINDS)) {
  async function fresh(): Promise<AgentStore> {
    const store = await open(newId());
    await store.saveDefinition(newDefinition({ name: 'A' }));
    return store;
  }

  describe(`background tasks: ${name}`, () => {
    test('a task is added once, within bounds, ends once, and is in one hand at a time', async () => {
      const store = await fresh();
      const other = await fresh();
      const { session } = (await store.deliver({ to: web, events: [] }))!;
      const limits = { maxTurns: 5, maxTokens: 9, maxCostMicros: 9, maxSeconds: 9 };
      const task = (id: string, sessionId = session.id) =>
        ({ id, sessionId, runSeq: 1, memberId: 'm', member: 'qa', task: `do ${id}\0`, limits, depth: 1 }) as const;
      const bounds = { ofLead: 2, ofUser: 100 };
      const [a, b, c] = [newId(), newId(), newId()];
      assert.equal(await store.addTask(task(a), bounds, lease('p', 60_000)), 'added');
      assert.equal(await store.addTask(task(a), bounds, lease('q')), 'known');
      assert.equal(await store.addTask(task(b), bounds, lease('p', -1)), 'added');
      assert.equal(await store.addTask(task(c), bounds, lease('p')), 'lead');
      assert.equal(await store.addTask(task(c), { ofLead: 9, ofUser: 2 }, lease('p')), 'user');
      assert.equal(await store.addTask(task(c, 'none'), { ofLead: 9, ofUser: 100 }, lease('p')), 'gone');
      assert.equal(await other.task(a), undefined, 'another agent’s');
      assert.equal(await other.endTask(a, { status: 'stopped', result: '' }), false);
      assert.deepEqual(
        (await store.takeTasks(lease('q'), 9)).map(({ id }) => id),
        [b],
        'the other is in hand',
      );
      await store.releaseTasks('p');
      assert.deepEqual(
        (await store.takeTasks(lease('q'), 9)).map(({ id }) => id),
        [a],
      );
      assert.equal(await store.placeTask(a, 'there'), true);
      assert.equal(await store.endTask(a, { status: 'done', result: 'x'.repeat(900), spent: NOTHING_SPENT }), true);
      assert.equal(await store.endTask(a, { status: 'stopped', result: '' }), false);
      assert.equal(await store.placeTask(a, 'elsewhere'), false);
      const ended = await store.task(a);
      assert.deepEqual(
        [ended?.status, ended?.result.length, ended?.memberSession, ended?.tells],
        ['done', 900, 'there', true],
      );
      assert.deepEqual(ended?.limits, limits);
      await store.settleTask(a);
      assert.deepEqual(
        (await store.tasks({ limit: 9, running: true })).map(({ id }) => id),
        [b],
      );
      assert.equal((await store.tasks({ limit: 9 })).find(({ id }) => id === a)?.result.length, 500);
      assert.deepEqual(await store.tasks({ limit: 9, sessionId: 'none' }), []);
      await store.removeConversation(session.id);
      assert.deepEqual(await store.tasks({ limit: 9 }), [], 'they go with their conversation');
    });
  });
}
