import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { send, type Reply } from '@troupe/testing/services/people';

/**
 * A stream of a session of Managed Agents went on for a day after its key was deleted, and one that could not begin kept
 * its place for ever: twenty of those, and its user had no stream again.
 */
let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

const by =
  (key: string) =>
  (method: string, path: string, body?: unknown): Promise<Reply> =>
    send(scene.backend + path, method, body, { authorization: `Bearer ${key}` });

async function listen(path: string, key: string) {
  const request = http.get(scene.backend + path, { headers: { authorization: `Bearer ${key}` }, agent: false });
  request.on('error', () => undefined);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const state = { isOver: false, text: '' };
  response
    .on('error', () => undefined)
    .on('data', (piece: Buffer) => (state.text += piece.toString()))
    .on('close', () => (state.isOver = true));
  return { status: response.statusCode ?? 0, state, close: () => request.destroy() };
}

async function session(agentId: string, key: string): Promise<string> {
  const environment = await by(key)('POST', '/v1/environments', { name: 'here' });
  const made = await by(key)('POST', '/v1/sessions', { agent: agentId, environment_id: environment.body.id });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  return made.body.id;
}

const says = (text: string) => ({ events: [{ type: 'user.message', content: [{ type: 'text', text }] }] });

async function within(ms: number, isSo: () => boolean): Promise<boolean> {
  for (const until = Date.now() + ms; !isSo() && Date.now() < until;) await delay(20);
  return isSo();
}

test('a stream ends with the key that opened it, begun or not', { timeout: 60_000 }, async () => {
  const person = await scene.person();
  const made = await person.ask('POST', '/api/keys', { name: 'listens' });
  const key = made.body.key as string;
  const talked = await session(person.agentId, key);
  const silent = await session(person.agentId, key);
  assert.equal((await by(key)('POST', `/v1/sessions/${talked}/events`, says('hi'))).status, 200);
  const streams = [
    await listen(`/v1/sessions/${talked}/events/stream`, key),
    await listen(`/v1/sessions/${silent}/events/stream`, key),
  ];
  const kept = await listen(`/v1/sessions/${talked}/events/stream`, person.key);
  assert.deepEqual(
    [...streams, kept].map(({ status }) => status),
    [200, 200, 200],
  );
  assert.equal((await person.ask('DELETE', `/api/keys/${made.body.id}`)).status, 200);
  for (const { state } of streams) assert.ok(await within(5000, () => state.isOver), 'the stream goes on');
  assert.equal(kept.state.isOver, false);
  await by(person.key)('POST', `/v1/sessions/${talked}/events`, says('a secret of later'));
  assert.ok(await within(5000, () => kept.state.text.includes('a secret of later')));
  for (const { state } of streams) assert.doesNotMatch(state.text, /a secret of later/);
  kept.close();
});

test('a stream that cannot begin takes no place', { timeout: 60_000 }, async () => {
  const person = await scene.person();
  const id = await session(person.agentId, person.key);
  await by(person.key)('POST', `/v1/sessions/${id}/events`, says('hi'));
  await person.askBackend('POST', `/api/agents/${person.agentId}/stop`);
  for (let n = 0; n < 25; n += 1) {
    const refused = await listen(`/v1/sessions/${id}/events/stream`, person.key);
    assert.ok(refused.status >= 500, String(refused.status));
    refused.close();
  }
  await person.askBackend('POST', `/api/agents/${person.agentId}/start`);
  const stream = await listen(`/v1/sessions/${id}/events/stream`, person.key);
  assert.equal(stream.status, 200);
  stream.close();
});
