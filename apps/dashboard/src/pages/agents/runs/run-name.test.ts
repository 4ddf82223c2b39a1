import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { newestAddress, newestOf, runAddress, runName, runOf } from './run-name.ts';

test('a name leads back to its run, and is short', () => {
  for (let tries = 0; tries < 50; tries += 1) {
    const place = { agentId: randomUUID(), sessionId: randomUUID(), first: tries + 1 };
    const name = runName(place);
    assert.deepEqual(runOf(name), place);
    assert.ok(name.length <= 48, name);
    assert.equal(encodeURIComponent(name), name, 'nothing in it is written otherwise in an address');
  }
  const [agentId, sessionId] = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];
  assert.equal(runAddress({ agentId, sessionId, first: 1 }), `/dashboard/runs/${'A'.repeat(22)}~${'_'.repeat(21)}w`);
});

test('ids of other kinds go along as they are', () => {
  for (const id of ['bench-3', 'a'.repeat(22), 'x~y', '!', 'ä/b?c', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF'])
    assert.deepEqual(runOf(runName({ agentId: id, sessionId: id, first: 7 })), {
      agentId: id,
      sessionId: id,
      first: 7,
    });
});

test('what names no run names none', () => {
  const id = 'A'.repeat(22);
  for (const name of ['', '~', id, `${id}~`, `${id}~short`, `!~${id}`, `!%~${id}`, `${id}~${id}~0`, `${id}~${id}~1~2`])
    assert.equal(runOf(name), undefined, name);
  assert.equal(runOf(`${id}~${id}~${'9'.repeat(400)}`), undefined);
});

test('the newest run of a conversation has an address, too', () => {
  const place = { agentId: randomUUID(), sessionId: 'telegram-7~x' };
  const name = newestAddress(place).split('/').at(-1)!;
  assert.deepEqual(newestOf(name), place);
  assert.equal(runOf(name), undefined);
  assert.equal(newestOf(runName({ ...place, first: 3 })), undefined);
  assert.equal(newestOf('~newest'), undefined);
});
