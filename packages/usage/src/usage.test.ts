import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { modelCall as event } from '@troupe/testing/money/model-call';
import { silentLog } from '@troupe/kernel';
import { createQueries, createWriter, type AiEvent } from './index.ts';

let test: TestDatabase;
let now = new Date('2026-03-15T12:00:00Z');
const clock = () => now;

before(async () => {
  test = await testDatabase({ poolSize: 10 });
});
after(() => test.drop());

const makeWriter = (db = test.db) => createWriter({ db, log: silentLog, clock });
const logged = async (userId: string) =>
  (await test.db.system.selectFrom('usage_logs').selectAll().where('user_id', '=', userId).execute()).length;

describe('recording', () => {
  it('writes a batch that is full before its time has come', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const writer = makeWriter();
    for (let n = 0; n < 1_000; n += 1) writer.record(event({ userId: 'busy' }));
    writer.record(event({ userId: 'busy' }));
    while ((await logged('busy')) === 0) await new Promise(setImmediate);
    context.mock.timers.reset();
    await writer.close();
    assert.equal(await logged('busy'), 1_001);
  });

  it('writes one row a call and sums by day, in one batch', async () => {
    const writer = makeWriter();
    writer.record(event());
    writer.record(event({ success: false, inputTokens: 0, outputTokens: 0, costMicros: 0 }));
    writer.record(event({ userId: 'bob', model: 'openai/gpt-4o-mini', costMicros: 5 }));
    await writer.flush();
    const queries = createQueries({ db: test.db, clock });
    assert.deepEqual(await queries.summary('ann', 30), [
      {
        date: '2026-03-15',
        agent_id: 'a1',
        model: 'openai/gpt-4o',
        provider: 'openrouter',
        input_tokens: 100,
        output_tokens: 20,
        total_tokens: 120,
        cost_usd: 0.0008,
        turn_count: 2,
      },
    ]);
    assert.deepEqual(
      (await queries.byModel('bob', 30)).map((row) => row.model),
      ['openai/gpt-4o-mini'],
    );
    assert.equal(await logged('ann'), 2);
    await writer.close();
  });

  it('happens by itself, and on close for what is left', async () => {
    const writer = makeWriter();
    writer.record(event({ userId: 'cid' }));
    while ((await logged('cid')) === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    writer.record(event({ userId: 'cid' }));
    await writer.close();
    assert.equal(await logged('cid'), 2);
  });

  it('lets no event that cannot be written hold up the others', async () => {
    const writer = makeWriter();
    const mine = (given: Partial<AiEvent> = {}) => event({ userId: 'zoe', ...given });
    writer.record(mine());
    writer.record(mine({ model: 'a\0b\ud800' }));
    writer.record(mine({ inputTokens: 1e30 }));
    writer.recordTool({ userId: 'zoe', agentId: 'a1', tool: 'x\0', durationMs: 1, success: true });
    writer.record(mine({ costMicros: 7 }));
    await writer.flush();
    writer.record(mine());
    await writer.close();
    assert.equal(await logged('zoe'), 4);
    const queries = createQueries({ db: test.db, clock });
    assert.deepEqual(
      (await queries.byModel('zoe', 1)).map(({ model, calls, cost_usd: cost }) => [model, calls, cost]),
      [
        ['openai/gpt-4o', 3, 0.001607],
        ['a\ufffdb\ufffd', 1, 0.0008],
      ],
    );
    assert.equal((await queries.tools('zoe', undefined, 1))[0]?.tool_name, 'x\ufffd');
  });

  it('loses nothing and counts nothing twice when the database fails for a while', async () => {
    let failures = 3;
    const db = {
      ...test.db,
      asSystem: (async (work: never) => {
        // The second failure is the worst kind: written, but the confirmation is lost.
        if (failures === 2) await test.db.asSystem(work);
        failures -= 1;
        if (failures >= 0) throw new Error('connection lost');
        return test.db.asSystem(work);
      }) as typeof test.db.asSystem,
    };
    const writer = makeWriter(db);
    for (let index = 0; index < 2_500; index += 1) writer.record(event({ userId: 'dan' }));
    await assert.rejects(writer.flush());
    writer.record(event({ userId: 'dan' }));
    await assert.rejects(writer.flush());
    await writer.close();
    assert.equal(await logged('dan'), 2_501);
    const [row] = await createQueries({ db: test.db, clock }).byModel('dan', 1);
    assert.equal(row?.calls, 2_501);
  });

  it('sums tools', async () => {
    const writer = makeWriter();
    const tool = { userId: 'ann', agentId: 'a1', tool: 'shell', durationMs: 10, success: true };
    writer.recordTool(tool);
    writer.recordTool({ ...tool, durationMs: 30, success: false });
    writer.recordTool({ ...tool, agentId: 'a2', tool: 'think' });
    await writer.close();
    const { tools } = createQueries({ db: test.db, clock });
    assert.deepEqual(await tools('ann', 'a1', 7), [{ tool_name: 'shell', calls: 2, successes: 1, avg_ms: 20 }]);
    assert.equal((await tools('ann', undefined, 7)).length, 2);
    assert.deepEqual(await tools('bob', 'a1', 7), []);
  });
});

describe('questions', () => {
  it('count the days asked for, today last, and only the own rows', async () => {
    const writer = makeWriter();
    for (const day of ['2026-03-01', '2026-03-09', '2026-03-15']) {
      now = new Date(`${day}T23:30:00Z`);
      writer.record(event({ userId: 'eve' }));
    }
    await writer.close();
    const queries = createQueries({ db: test.db, clock });
    assert.equal((await queries.summary('eve', 7)).length, 2);
    assert.equal((await queries.summary('eve', 6)).length, 1);
    const daily = await queries.daily('eve', 7);
    assert.deepEqual(
      daily.map((row) => [row.date, row.calls]).filter(([, calls]) => calls !== 0),
      [
        ['2026-03-09', 1],
        ['2026-03-15', 1],
      ],
    );
    assert.equal(daily.length, 7);
    assert.deepEqual(await queries.byAgent('eve', 'other', 30), []);
    assert.equal((await queries.byAgent('eve', 'a1', 30))[0]?.calls, 3);
    assert.equal(
      (await queries.summary('ann', 30)).every((row) => row.turn_count === 2),
      true,
    );
  });

  it('keep every name as it is, the newest day and then the dearest first', async () => {
    const writer = makeWriter();
    const odd = ['a\nb', '"quoted", \\', 'ünï 🔑', '%s'];
    for (const [index, agentId] of odd.entries())
      writer.record(event({ userId: 'ida', agentId, model: `${agentId}!`, costMicros: index + 1 }));
    now = new Date('2026-03-14T12:00:00Z');
    writer.record(event({ userId: 'ida', agentId: 'earlier', costMicros: 1_000 }));
    await writer.close();
    now = new Date('2026-03-15T12:00:00Z');
    const rows = await createQueries({ db: test.db, clock }).summary('ida', 30);
    assert.deepEqual(
      rows.map((row) => [row.agent_id, row.model]),
      [...odd.toReversed().map((name) => [name, `${name}!`]), ['earlier', 'openai/gpt-4o']],
    );
  });

  it('see no rows of others even without the condition', async () => {
    const rows = await test.db.user('nobody').selectFrom('usage_logs').selectAll().execute();
    assert.deepEqual(rows, []);
    await assert.rejects(test.db.user('ann').deleteFrom('usage_daily').execute(), /permission denied/);
  });
});
