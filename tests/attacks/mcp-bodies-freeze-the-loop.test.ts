import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { steps } from '@troupe/testing/services/director';

/**
 * A call with ninety thousand arguments was read and walked for a third of a second, on the loop; twenty of them held up
 * everybody for four. And a body of many calls counted as one call.
 */

let scene: Scene;
before(async () => {
  scene = await startScene();
});
after(() => scene.stop());

const platform = (): string => `${scene.web}/mcp`;
const agent = (): string => `${scene.backend}/api/runtime/proxy/${scene.attacker.agentId}/mcp`;

async function post(url: string, body: unknown, signal?: AbortSignal): Promise<{ status: number; text: string }> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${scene.attacker.key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-03-26',
    },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  return { status: answer.status, text: await answer.text() };
}

const ask = (id: number, args: object) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'ask_agent', arguments: args },
});

const withArguments = (count: number) =>
  ask(1, Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 1])));

test('a body of more values than any call has is refused, a large one unread', async () => {
  for (const door of [platform(), agent()]) {
    const large = await post(door, withArguments(90_000));
    assert.equal(large.status, 400, large.text.slice(0, 300));
    assert.match(large.text, /more than 20000 characters outside of its texts/);
    const many = await post(door, withArguments(2_500));
    assert.equal(many.status, 400, many.text.slice(0, 300));
    assert.match(many.text, /A body has 2000 values at most/);
    const long = await post(door, ask(1, { agent: scene.attacker.agentId, message: 'x'.repeat(100_001) }));
    assert.match(long.text, /Input validation error/);
  }
});

test('twenty of them at once hold up nobody', { timeout: 60_000 }, async () => {
  await scene.unharmed(async () => {
    const doors = Array.from({ length: 10 }, () => [platform(), agent()]).flat();
    const replies = await Promise.all(doors.map((door) => post(door, withArguments(90_000))));
    for (const { status } of replies) assert.ok(status === 400 || status === 429, String(status));
  });
});

test('every call of a body takes a place', async () => {
  const list = (count: number) =>
    Array.from({ length: count }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }));
  for (const door of [platform(), agent()])
    assert.match((await post(door, list(11))).text, /A body has 10 messages at most/);
  const gone = new AbortController();
  const message = steps({ wait: 'here' });
  const waiting = post(agent(), ask(1, { message }), gone.signal).catch(() => undefined);
  await scene.director.waits('here');
  assert.match((await post(agent(), list(10))).text, /Too many calls at once \(max 10\)/);
  assert.equal((await post(agent(), list(9))).status, 200);
  gone.abort();
  await waiting;
});
