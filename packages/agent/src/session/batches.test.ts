import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createDatabase, type Database } from '@troupe/db';
import { testDatabase, testUser, type TestDatabase } from '@troupe/testing/database/server';
import { inBatches, newId, silentLog } from '@troupe/kernel';
import { sql } from 'kysely';
import { newDefinition } from '@troupe/domain';
import { NOTHING_SPENT, type SessionEventBody } from './events.ts';
import { createPgStore } from '../store/store-pg.ts';
import type { AgentStore } from '../store/store.ts';
import { makeAgentRow } from '../testing.ts';

describe('in batches', () => {
  /** Doubles what it is given, each batch when the test says so. */
  function doubler({ fail }: { fail?: (given: string[]) => unknown } = {}) {
    const written: string[][] = [];
    const gates: (() => void)[] = [];
    const add = inBatches(
      async (given: string[]) => {
        written.push(given);
        await new Promise<void>((resolve) => gates.push(resolve));
        const error = fail?.(given);
        if (error) throw error;
        return given.map((one) => one + one);
      },
      { keyOf: (one) => one[0] ?? '', mayPart: (error) => error instanceof RangeError, atMost: 3 },
    );
    /** Lets the batches go one after the other. */
    async function letGo(): Promise<void> {
      for (let rest = 0; rest < 5; rest += 1) {
        if (gates.length > 0) rest = 0;
        gates.shift()?.();
        await new Promise(setImmediate);
      }
    }
    return { add, written, letGo };
  }

  test('what comes while one is written goes together after it, at most so many, and each gets its own answer', async () => {
    const { add, written, letGo } = doubler();
    const first = add('a');
    await new Promise(setImmediate);
    const rest = Promise.all(['b', 'c', 'd', 'e'].map(add));
    await letGo();
    assert.deepEqual([await first, ...(await rest)], ['aa', 'bb', 'cc', 'dd', 'ee']);
    assert.deepEqual(written, [['a'], ['b', 'c', 'd'], ['e']]);
  });

  test('things of one key go one after the other, in their order', async () => {
    const { add, written, letGo } = doubler();
    const all = Promise.all(['a1', 'b1', 'a2', 'a3', 'b2'].map(add));
    await letGo();
    await all;
    assert.deepEqual(written, [['a1', 'b1'], ['a2', 'b2'], ['a3']]);
  });

  test('the fault of one is not that of the others', async () => {
    const { add, written, letGo } = doubler({ fail: (given) => given.includes('b') && new RangeError('bad') });
    const all = Promise.allSettled(['a', 'b', 'c'].map(add));
    await letGo();
    assert.deepEqual(
      (await all).map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(written, [['a', 'b', 'c'], ['a'], ['b'], ['c']]);
  });

  test('what may have been stored is not written again', async () => {
    const { add, written, letGo } = doubler({ fail: () => new Error('connection lost') });
    const all = Promise.allSettled(['a', 'b'].map(add));
    await letGo();
    assert.ok((await all).every(({ status }) => status === 'rejected'));
    assert.deepEqual(written, [['a', 'b']]);
  });
});

describe('many sessions at once', () => {
  let database: TestDatabase;
  before(async () => {
    database = await testDatabase();
    await testUser(database.db, 'u');
  });
  after(() => database.drop());

  const user = (content: string): SessionEventBody => ({ type: 'user', content });
  const ended: SessionEventBody = { type: 'run_ended', outcome: 'done', spent: NOTHING_SPENT };
  const lease = (owner: string) => ({ owner, ttlMs: 60_000 });
  const place = (key: string) => ({ channel: 'api', key });

  /** The stores of one agent in several processes. */
  async function processes(count: number, on: Database = database.db): Promise<AgentStore[]> {
    const agentId = newId();
    await makeAgentRow(database.db, 'u', agentId);
    const stores = Array.from({ length: count }, () => createPgStore({ db: on, userId: 'u', agentId }));
    await stores[0]?.saveDefinition(newDefinition({ name: 'A' }));
    return stores;
  }

  test('from two processes: each log is whole, each session is taken by one, every token counts', async () => {
    const stores = await processes(2);
    const keys = Array.from({ length: 12 }, (_, index) => `k${index}`);
    const inputs = stores.flatMap((store, from) =>
      keys.flatMap((key) =>
        [1, 2, 3].map((n) =>
          store.deliver({ to: place(key), events: [user(`${from}.${n}`)], claim: lease(`p${from}`) }),
        ),
      ),
    );
    const delivered = await Promise.all(inputs);
    const taken = delivered.filter((one) => one?.claimed);
    assert.equal(new Set(taken.map((one) => one?.session.id)).size, keys.length);
    assert.equal(taken.length, keys.length);

    const store = stores[0] as AgentStore;
    for (const one of taken) {
      const { id, lastSeq } = one?.session ?? { id: '', lastSeq: 0 };
      assert.equal(lastSeq, one?.claimed?.events.length);
      const log = await store.events(id, { after: 0, limit: 50 });
      assert.deepEqual(
        log.map(({ seq }) => seq),
        [1, 2, 3, 4, 5, 6],
      );
      for (const from of ['0', '1']) {
        const said = log.flatMap((event) => (event.type === 'user' ? [event.content] : []));
        assert.deepEqual(
          said.filter((content) => content.startsWith(from)),
          [1, 2, 3].map((n) => `${from}.${n}`),
          'in the order in which it was said',
        );
      }
    }

    const ends = await Promise.all(
      taken.map(async (one) => {
        const from = delivered.indexOf(one) < inputs.length / 2 ? 0 : 1;
        const step = { owner: `p${from}`, expected: 6, events: [ended], release: 'idle' as const, tokens: 7 };
        return stores[from]?.append(one?.session.id ?? '', step);
      }),
    );
    assert.ok(ends.every((end) => end?.ok && end.seq === 7));
    const next = await store.deliver({ to: place('k0'), events: [user('more')], claim: lease('p0') });
    assert.equal(next?.claimed?.tokensToday, 7 * keys.length);
    assert.equal(next?.claimed?.events.length, 8);
  });

  test('a step that came too late or without the lease is refused, those beside it are stored', async () => {
    const [store] = (await processes(1)) as [AgentStore];
    const keys = ['fine', 'newer', 'lost', 'on'];
    const sessions = await Promise.all(
      keys.map((key) => store.deliver({ to: place(key), events: [user(key)], claim: lease('a') })),
    );
    const [fine, newer, lost, on] = sessions.map((one) => one?.session.id ?? '');
    await store.deliver({ to: place('newer'), events: [user('again')] });
    await store.release(lost ?? '', 'a');
    const step = { owner: 'a', expected: 1, events: [ended], tokens: 1 };
    const answers = await Promise.all([
      store.append(fine ?? '', { ...step, release: 'idle' }),
      store.append(newer ?? '', { ...step, release: 'idle' }),
      store.append(lost ?? '', { ...step, release: 'idle' }),
      store.append('nothing', step),
      store.append(on ?? '', step),
    ]);
    assert.deepEqual(answers, [
      { ok: true, seq: 2 },
      { ok: false, why: 'conflict' },
      { ok: false, why: 'lost' },
      { ok: false, why: 'lost' },
      { ok: true, seq: 2, version: 1 },
    ]);
    const counts = await Promise.all(
      [fine, newer, lost, on].map((id) => store.events(id ?? '', { after: 0, limit: 9 })),
    );
    assert.deepEqual(
      counts.map((log) => log.length),
      [2, 2, 1, 2],
    );
    const next = await store.deliver({ to: place('fine'), events: [user('more')], claim: lease('a') });
    assert.equal(next?.claimed?.tokensToday, 2, 'what was refused is not counted');
  });

  test('a changed definition counts for the next input', async () => {
    const [store, other] = (await processes(2)) as [AgentStore, AgentStore];
    const name = async (key: string) =>
      (await store.deliver({ to: place(key), events: [user('x')], claim: lease('a') }))?.claimed?.definition.name;
    assert.equal(await name('1'), 'A');
    await other.saveDefinition(newDefinition({ name: 'B', tools: [] }));
    assert.equal(await name('2'), 'B');
    assert.equal(await name('3'), 'B');
  });

  for (const what of ['inputs', 'steps'])
    test(`${what} lock sessions in the order of their keys, so that nobody waits for another in a circle`, async () => {
      const [store] = (await processes(1)) as [AgentStore];
      const deliver = (key: string) => store.deliver({ to: place(key), events: [user('x')], claim: lease('a') });
      const append = (id = '') => store.append(id, { owner: 'a', expected: 1, events: [ended], release: 'idle' });
      const last = (await deliver('z'))?.session.id;
      const first = (await deliver('a'))?.session.id;
      const outside = createDatabase({ url: database.url, log: silentLog, poolSize: 1 });
      const { written } = await outside.asSystem(async (tx) => {
        await sql`select from agent_sessions where id = ${first} for update`.execute(tx);
        const both = Promise.all(what === 'inputs' ? [deliver('z'), deliver('a')] : [append(last), append(first)]);
        while ((await sql`select from pg_locks where not granted`.execute(tx)).rows.length === 0);
        const free = await sql`select from agent_sessions where id = ${last} for update skip locked`.execute(tx);
        assert.equal(free.rows.length, 1, 'the later one is not held while the first is waited for');
        return { written: both };
      });
      await written;
      await outside.close();
    });

  test('an agent that goes meanwhile takes everything along, and nobody waits for another in a circle', async () => {
    for (let round = 0; round < 5; round += 1) {
      const agentId = newId();
      await makeAgentRow(database.db, 'u', agentId);
      const stores = [0, 1].map(() => createPgStore({ db: database.db, userId: 'u', agentId }));
      await stores[0]?.saveDefinition(newDefinition({ name: 'A' }));
      const talk = async (store: AgentStore, key: string): Promise<unknown> => {
        for (;;) {
          const one = await store.deliver({ to: place(key), events: [user('x')], claim: lease(key) });
          const { id = '', lastSeq = 0 } = one?.session ?? {};
          const lines = [{ level: 'info' as const, message: 'm', source: 's' }];
          await store.append(id, { owner: key, expected: lastSeq, events: [ended], release: 'idle', tokens: 1, lines });
        }
      };
      const talks = stores.flatMap((store, index) => ['a', 'b', 'c', 'd'].map((key) => talk(store, key + index)));
      const told = Promise.allSettled(talks);
      while ((await stores[0]?.sessions({ limit: 9, offset: 0 }))?.length !== 8) await new Promise(setImmediate);
      await sql`delete from agents where id = ${agentId}`.execute(database.db.system);
      for (const one of await told) {
        assert.equal(one.status, 'rejected');
        assert.match(String(one.reason), /Agent not found/);
      }
      for (const table of ['agent_sessions', 'agent_events', 'agent_days', 'agent_logs']) {
        const { rows } = await sql`select from ${sql.table(table)} where agent_id = ${agentId}`.execute(
          database.db.system,
        );
        assert.equal(rows.length, 0, table);
      }
    }
  });
});
