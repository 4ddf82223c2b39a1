import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createDatabase } from '@troupe/db';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { modelCall as event } from '@troupe/testing/money/model-call';
import { silentLog } from '@troupe/kernel';
import { createCaps, createSpend, createWriter } from './index.ts';

let test: TestDatabase;
let now = new Date('2026-03-15T12:00:00Z');
const clock = () => now;

before(async () => {
  test = await testDatabase({ poolSize: 10 });
});
after(() => test.drop());

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

const makeWriter = () => createWriter({ db: test.db, log: silentLog, clock });

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
    const set = (limitUsd: number | null, change: object = {}) =>
      caps().set('gap', { scope: 'user', limitUsd, ...change });
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

  it('count a call that was under way under another cap when they were set, or got another period', async () => {
    await addUser('more');
    const gate = createSpend({ db: test.db, clock, tokenQuotas: true });
    const writer = makeWriter();
    const spender = { userId: 'more', agentId: 'a1', plan: 'solo' };
    const used = async () => (await caps().list('more')).map(({ scope, usedUsd }) => [scope, usedUsd]);
    await caps().set('more', { scope: 'user', limitUsd: 1 });
    const reservation = await gate.reserve(spender, most);
    await caps().set('more', { scope: 'user', limitUsd: 1, period: 'day' });
    await caps().set('more', { scope: 'agent', limitUsd: 1 });
    await caps().set('more', { scope: 'agent', agentId: 'a1', limitUsd: 1 });
    // Makes the new counters, which find nothing of the first call recorded.
    const second = await gate.reserve(spender, most);
    await gate.settle(reservation!, { tokens: 700, micros: 2_000 });
    await gate.settle(second!, { tokens: 50, micros: 500 });
    writer.record(event({ userId: 'more', costMicros: 2_000, reservation }));
    writer.record(event({ userId: 'more', costMicros: 500, reservation: second }));
    await writer.close();
    assert.deepEqual(await used(), [
      ['user', 0.0025],
      ['agent', null],
      ['agent', 0.0025],
    ]);
    assert.equal(await caps().tokensThisMonth('more'), 750);
    await caps().set('more', { scope: 'user', limitUsd: 1, period: 'month' });
    assert.deepEqual((await used())[0], ['user', 0.0025]);
  });

  it('are in force everywhere when they are set', async () => {
    await addUser('soon');
    const gate = createSpend({ db: test.db, clock, tokenQuotas: false });
    assert.equal(await gate.reserve({ userId: 'soon' }, most), undefined);
    await caps().set('soon', { scope: 'user', limitUsd: 0.01 });
    await assert.rejects(async () => gate.reserve({ userId: 'soon' }, most), { status: 429 });
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
