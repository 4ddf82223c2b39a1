import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newId } from '@troupe/kernel';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { makeAgentRow } from '../testing.ts';
import { createPgStore } from './store-pg.ts';
import { createSqliteStore } from './store-sqlite.ts';
import type { AgentStore } from './store.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.drop());

const KINDS: Record<string, () => Promise<AgentStore>> = {
  async postgres() {
    const agentId = newId();
    await makeAgentRow(database.db, 'u', agentId);
    return createPgStore({ db: database.db, userId: 'u', agentId });
  },
  sqlite: async () => createSqliteStore({ file: ':memory:', agentId: 'a' }),
};

for (const [name, fresh] of Object.entries(KINDS))
  describe(`messages of channels: ${name}`, () => {
    test('a message of a channel counts once, is one process’s at a time, and its answer one message’s', async () => {
      const store = await fresh();
      const letter = (id: string) => ({ id, chat: 'c', sender: 's', text: id, extra: { to: 'x' } });
      const taken = await Promise.all(['1', '1', '1'].map((id) => store.takeMessage('mail', letter(id))));
      assert.deepEqual(taken.toSorted(), ['known', 'known', 'taken']);
      await store.takeMessage('mail', letter('2'));
      await store.takeMessage('mail', letter('3'), 'a stranger');
      const [one, two] = [
        { owner: 'one', ttlMs: 60_000 },
        { owner: 'two', ttlMs: 60_000 },
      ];
      const ids = async (lease: typeof one, most: number) =>
        (await store.claimMessages('mail', lease, most)).map(({ id }) => id);
      assert.deepEqual([await ids(one, 1), await ids(two, 5)], [['1'], ['2']], 'the oldest first');
      const [mine, theirs] = ['1', '2'];
      assert.equal(await store.noteMessage('mail', mine, 'two', { kind: 'sent', sent: 1 }), false, 'it is another’s');
      assert.equal(await store.noteMessage('mail', mine, 'one', { kind: 'answer', answer: 's:4' }), true);
      assert.equal(await store.noteMessage('mail', mine, 'one', { kind: 'answer', answer: 's:4' }), true, 'once more');
      assert.equal(await store.noteMessage('mail', theirs, 'two', { kind: 'answer', answer: 's:4' }), false);
      await store.noteMessage('mail', mine, 'one', { kind: 'paths', paths: ['uploads/a'], text: 'with file' });
      await store.noteMessage('mail', mine, 'one', { kind: 'sent', sent: 2 });
      await store.noteMessage('mail', mine, 'one', {
        kind: 'later',
        afterMs: 0,
        failed: true,
        isTold: true,
        note: 'why',
      });
      const [again] = await store.claimMessages('mail', two, 5);
      assert.deepEqual(again, {
        ...letter(mine),
        text: 'with file',
        paths: ['uploads/a'],
        tries: 1,
        isTold: true,
        sent: 2,
      });
      await store.noteMessage('mail', mine, 'two', { kind: 'done', state: 'answered' });
      assert.deepEqual(await store.claimMessages('mail', one, 5), []);
      await store.holdMessages('mail', [theirs], { owner: 'two', ttlMs: 0 });
      assert.deepEqual(
        (await store.claimMessages('mail', one, 5)).map(({ id }) => id),
        [theirs],
      );
      const states = (await store.receipts({ limit: 9 })).map(({ id, state, note }) => `${id} ${state} ${note ?? ''}`);
      assert.deepEqual(
        states.toSorted(),
        [`${mine} answered `, `${theirs} waiting `, '3 ignored a stranger'].toSorted(),
      );
      assert.equal(await store.countMessages('mail', 's', new Date(Date.now() - 60_000)), 2);
      assert.deepEqual(await store.receipts({ channel: 'other', limit: 9 }), []);
    });

    test('what many processes claim at once is one’s each', async () => {
      const store = await fresh();
      for (let id = 0; id < 20; id++)
        await store.takeMessage('mail', { id: String(id), chat: 'c', sender: 's', text: 'x' });
      const owners = Array.from({ length: 6 }, (_, number) => ({ owner: `p${number}`, ttlMs: 60_000 }));
      const claimed = (await Promise.all(owners.map((lease) => store.claimMessages('mail', lease, 5)))).flat();
      assert.equal(new Set(claimed.map(({ id }) => id)).size, claimed.length);
      const rest = await store.claimMessages('mail', { owner: 'last', ttlMs: 60_000 }, 50);
      assert.equal(claimed.length + rest.length, 20);
    });
  });
