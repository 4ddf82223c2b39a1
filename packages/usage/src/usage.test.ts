import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createDatabase, testDatabase, type TestDatabase } from '@troupe/db';
import { silentLog } from '@troupe/kernel';
import { createCaps, createQueries, createSpend, createWriter, type AiEvent } from './index.ts';

let test: TestDatabase;
let now = new Date('2026-03-15T12:00:00Z');
const clock = () => now;

before(async () => {
  test = await testDatabase({ poolSize: 10 });
});
after(() => test.drop());

const event = (given: Partial<AiEvent> = {}): AiEvent => ({
  userId: 'ann',
  agentId: 'a1',
  runId: undefined,
  model: 'openai/gpt-4o',
  provider: 'openrouter',
  inputTokens: 100,
  outputTokens: 20,
  costMicros: 800,
  latencyMs: 12,
  success: true,
  estimated: false,
  ...given,
});

async function addUser(id: string, creditMicros = 0): Promise<void> {
  await test.db.system
    .insertInto('users')
    .values({
      id,
      email: `${id}@example.org`,
      name: id,
      referral_code: id,
      credit_micros: creditMicros,
      created_at: now,
      updated_at: now,
    })
    .execute();
}

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

describe('caps', () => {
  const most = () => ({ tokens: 1_000, micros: 30_000 });
  const caps = () => createCaps({ db: test.db, clock });

  it('hold under 100 calls at once from two processes, each refused before it is made', async () => {
    await addUser('cap-user');
    await caps().set('cap-user', { scope: 'user', limitUsd: 1 });
    const other = createDatabase({ url: test.url, log: silentLog });
    const gates = [test.db, other].map((db) => createSpend({ db, clock, tokenQuotas: false }));
    let spent = 0;
    const results = await Promise.allSettled(
      Array.from({ length: 100 }, async (_, index) => {
        const gate = gates[index % 2]!;
        const reservation = await gate.reserve({ userId: 'cap-user' }, most);
        assert.ok(reservation);
        spent += 30_000;
        await gate.settle(reservation, { tokens: 900, micros: 30_000 });
      }),
    );
    assert.equal(spent, 990_000);
    const refused = results.filter((result) => result.status === 'rejected');
    assert.equal(refused.length, 67);
    const { status, message, extra } = refused[0]!.reason as {
      status: number;
      message: string;
      extra: Record<string, unknown>;
    };
    assert.deepEqual([status, extra['code'], extra['limit'], extra['scope']], [429, 'QUOTA_EXCEEDED', 1, 'user']);
    assert.equal(extra['resetsAt'], '2026-04-01T00:00:00.000Z');
    assert.match(message, /Spend cap reached/);
    const [cap] = await caps().list('cap-user');
    assert.deepEqual([cap?.usedUsd, cap?.reservedUsd], [0.99, 0]);
    await other.close();
  });

  it('give back what a call did not use', async () => {
    await addUser('back');
    await caps().set('back', { scope: 'user', limitUsd: 0.03 });
    const gate = createSpend({ db: test.db, clock, tokenQuotas: false });
    const reservation = await gate.reserve({ userId: 'back' }, most);
    await assert.rejects(async () => gate.reserve({ userId: 'back' }, most), { status: 429 });
    await gate.settle(reservation!, { tokens: 0, micros: 0 });
    await gate.settle(reservation!, { tokens: 0, micros: 30_000 });
    assert.ok(await gate.reserve({ userId: 'back' }, most));
  });

  it('of an agent and of a run count for each by itself; an own cap replaces the general one', async () => {
    await addUser('team');
    await caps().set('team', { scope: 'agent', limitUsd: 0.03, period: 'day' });
    await caps().set('team', { scope: 'agent', agentId: 'rich', limitUsd: 0.06 });
    await caps().set('team', { scope: 'run', limitUsd: 0.03 });
    const gate = createSpend({ db: test.db, clock, tokenQuotas: false });
    const call = async (agentId: string | undefined, runId: string) =>
      Promise.resolve(gate.reserve({ userId: 'team', agentId, runId }, most)).then(
        () => 'ok',
        (error: { extra: { scope: string } }) => error.extra.scope,
      );
    assert.deepEqual(
      [
        await call('poor', 'r1'),
        await call('poor', 'r2'),
        await call('rich', 'r2'),
        await call('rich', 'r2'),
        await call('rich', 'r3'),
        await call('rich', 'r4'),
      ],
      ['ok', 'agent', 'ok', 'run', 'ok', 'agent'],
    );
    assert.equal(await call(undefined, 'r5'), 'ok');
    now = new Date('2026-03-16T00:00:01Z');
    assert.equal(await call('poor', 'r6'), 'ok');
  });

  it('count what was spent before they were set', async () => {
    await addUser('late');
    const writer = makeWriter();
    writer.record(event({ userId: 'late', costMicros: 990_000 }));
    await writer.close();
    await caps().set('late', { scope: 'user', limitUsd: 1 });
    const gate = createSpend({ db: test.db, clock, tokenQuotas: false });
    assert.equal((await caps().list('late'))[0]?.usedUsd, 0.99);
    await assert.rejects(async () => gate.reserve({ userId: 'late' }, most), { status: 429 });
    await caps().set('late', { scope: 'user', limitUsd: null });
    gate.forget('late');
    assert.equal(await gate.reserve({ userId: 'late' }, most), undefined);
  });

  it('count what was spent while they were removed, and by calls that were under way when they were set', async () => {
    await addUser('gap');
    const gate = createSpend({ db: test.db, clock, tokenQuotas: false });
    const writer = makeWriter();
    const used = async () => {
      await writer.flush();
      return (await caps().list('gap')).map((cap) => cap.usedUsd);
    };
    const spend = async (costMicros: number, agentId = '') => {
      const reservation = await gate.reserve({ userId: 'gap', agentId }, most);
      if (reservation) await gate.settle(reservation, { tokens: 1, micros: costMicros });
      writer.record(event({ userId: 'gap', agentId, costMicros, unreserved: !reservation }));
    };
    const set = async (limitUsd: number | null, change: object = {}) => {
      await caps().set('gap', { scope: 'user', limitUsd, ...change });
      gate.forget('gap');
    };
    await set(1);
    await spend(1_000);
    await set(null);
    await spend(2_000, 'a1');
    await set(1);
    assert.deepEqual(await used(), [0.003]);
    await set(1, { period: 'day' });
    await spend(4_000);
    await set(1, { scope: 'agent', agentId: 'a1' });
    await spend(8_000, 'a1');
    // Made before there was a cap, finished after it.
    writer.record(event({ userId: 'gap', agentId: 'a1', costMicros: 16_000, unreserved: true }));
    assert.deepEqual(await used(), [0.031, 0.026]);
    await set(1);
    assert.deepEqual(await used(), [0.031, 0.026]);
    await writer.close();
  });

  it('count a reservation in full when its process died', async () => {
    await addUser('dead');
    await caps().set('dead', { scope: 'user', limitUsd: 0.05 });
    const gate = createSpend({ db: test.db, clock, tokenQuotas: false });
    assert.ok(await gate.reserve({ userId: 'dead' }, most));
    now = new Date(now.getTime() + 16 * 60_000);
    await assert.rejects(async () => gate.reserve({ userId: 'dead' }, most), { status: 429 });
    assert.deepEqual(
      (await caps().list('dead')).map((cap) => [cap.usedUsd, cap.reservedUsd]),
      [[0.03, 0]],
    );
  });
});

describe('token quotas', () => {
  const quotas = () => createSpend({ db: test.db, clock, tokenQuotas: true });
  const big = () => ({ tokens: 1_500_000, micros: 60_000 });

  it('apply per plan and month, and not at all when they are off', async () => {
    await addUser('quota');
    const spender = { userId: 'quota', plan: 'solo' };
    assert.ok(await quotas().reserve(spender, big));
    await assert.rejects(
      async () => quotas().reserve(spender, big),
      (error: { status: number; extra: object }) => {
        assert.deepEqual(error.extra, {
          success: false,
          code: 'QUOTA_EXCEEDED',
          scope: 'tokens',
          unit: 'tokens',
          used: 1_500_000,
          limit: 2_000_000,
          resetsAt: '2026-04-01T00:00:00.000Z',
        });
        return error.status === 429;
      },
    );
    assert.ok(await quotas().reserve({ ...spender, plan: 'collective' }, big));
    assert.equal(await quotas().reserve({ ...spender, plan: 'network' }, big), undefined);
    assert.equal(await createSpend({ db: test.db, clock, tokenQuotas: false }).reserve(spender, big), undefined);
  });

  it('refuse only when the credits are used up', async () => {
    await addUser('credit', 100_000);
    const gate = quotas();
    const spender = { userId: 'credit', plan: 'solo' };
    await gate.settle((await gate.reserve(spender, big))!, { tokens: 1_500_000, micros: 60_000 });
    const byCredit = await gate.reserve(spender, big);
    await assert.rejects(async () => gate.reserve(spender, big), { status: 429 });
    await gate.settle(byCredit!, { tokens: 10, micros: 45_000 });
    const { credit_micros } = await test.db.system
      .selectFrom('users')
      .select('credit_micros')
      .where('id', '=', 'credit')
      .executeTakeFirstOrThrow();
    assert.equal(credit_micros, 55_000n);
    await assert.rejects(async () => gate.reserve(spender, big), { status: 429 });
  });
});
