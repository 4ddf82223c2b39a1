import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { testRuntime } from '@troupe/testing/database/runtime';
import { testUser } from '@troupe/testing/database/server';
import { newId } from '@troupe/kernel';
import type { AgentRow } from './agent.ts';
import { LimitReached } from './room.ts';
import { createRoster, type Roster } from './roster.ts';

let runtime: Awaited<ReturnType<typeof testRuntime>>;
let roster: Roster;

before(async () => {
  runtime = await testRuntime();
  for (const id of ['ann', 'bob']) await testUser(runtime.db, id);
  roster = createRoster({ ...runtime, sealKey: 'seal-of-tokens' });
});
after(() => runtime.close());

async function made(userId: string, id = newId()): Promise<AgentRow> {
  const agent = {
    id,
    userId,
    name: 'A',
    plan: 'solo' as const,
    status: 'provisioning' as const,
    model: 'sandbox/echo',
  };
  const [row] = await roster.of(userId).add([{ ...agent, channels: { channelA: 'T0KEN' } }], Infinity);
  return row!;
}

describe('the agents of one user', () => {
  test('are found, listed and read by that user only', async () => {
    const { id } = await made('ann');
    const [ann, bob] = [roster.of('ann'), roster.of('bob')];
    const row = await ann.get(id);
    assert.equal((await ann.definition(row)).name, 'A');
    assert.equal(await bob.find(id), undefined);
    await assert.rejects(bob.get(id), { status: 404, message: 'Agent not found' });
    await assert.rejects(bob.definition(row), { status: 404 });
    assert.deepEqual(await bob.list(), []);
    assert.equal((await roster.system.get(id)).user_id, 'ann');
  });

  test('cannot be added, given up or discarded in the name of another', async () => {
    const { id } = await made('ann');
    const stranger = { id: newId(), userId: 'ann', name: 'B', plan: 'solo', status: 'pending', model: 'm' } as const;
    await assert.rejects(roster.of('bob').add([stranger], Infinity), /row-level security/);
    await roster.of('bob').giveUp(id, 'because');
    await roster.of('bob').discard(id);
    assert.equal((await roster.system.get(id)).status, 'provisioning');
  });

  test('one that nobody could start is in error; one that was taken up meanwhile is left alone', async () => {
    const [left, taken] = [await made('ann'), await made('ann')];
    await roster.system.change(taken.id, { status: 'running', started_at: new Date() });
    for (const { id } of [left, taken]) await roster.of('ann').giveUp(id, 'Agent backend unavailable');
    const now = await roster.of('ann').get(left.id);
    assert.deepEqual([now.status, now.failure], ['error', 'Agent backend unavailable']);
    assert.equal((await roster.system.get(taken.id)).status, 'running');
    await roster.of('ann').discard(taken.id);
    assert.ok(await roster.system.find(taken.id));
  });

  test('are as many as the limit allows, also when many come at once', async () => {
    assert.deepEqual(await roster.of('bob').list(), []);
    const tries = Array.from({ length: 8 }, () => {
      const id = newId();
      const agent = { id, userId: 'bob', name: id, plan: 'solo', status: 'provisioning', model: 'm' } as const;
      return roster.of('bob').add([agent], 3);
    });
    const results = await Promise.allSettled(tries);
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 3);
    for (const result of results) if (result.status === 'rejected') assert.ok(result.reason instanceof LimitReached);
  });
});

test('a token that was ended is made again by the system only', async () => {
  const agent = await made('ann');
  const token = roster.of('ann').token(agent);
  assert.match(token ?? '', /^[0-9a-f]{64}$/);
  assert.equal(await roster.system.token(agent), token);
  const ended = await roster.system.change(agent.id, { token_hash: null, token_sealed: null });
  assert.equal(roster.of('ann').token(ended), undefined);
  const next = await roster.system.token(ended);
  assert.notEqual(next, token);
  assert.equal(roster.of('ann').token(await roster.system.get(agent.id)), next);
  assert.deepEqual(await roster.system.channelTokens(agent), { channelA: 'T0KEN' });
});
