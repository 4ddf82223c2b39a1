import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { MOST_LOG_STREAMS } from '@troupe/contract';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/**
 * An agent's log went on being told after the session or key had ended that asked for it, and one user had as many such
 * streams as there are connections, each of which asks the backend every second.
 */
let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

async function listen(agentId: string, headers: Record<string, string>) {
  const request = http.get(`${scene.web}/api/agents/${agentId}/logs/stream`, { headers, agent: false });
  request.on('error', () => undefined);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  let isOver = false;
  const over = new Promise<void>((resolve) => {
    response
      .on('error', () => undefined)
      .on('close', () => {
        isOver = true;
        resolve();
      });
  });
  response.resume();
  return { status: response.statusCode ?? 0, over, isOver: () => isOver, close: () => request.destroy() };
}

test('a stream of a log ends with the session or the key that opened it', { timeout: 60_000 }, async () => {
  const person = await scene.person();
  const made = await person.ask('POST', '/api/keys', { name: 'listens' });
  const byKey = await listen(person.agentId, { authorization: `Bearer ${made.body.key}` });
  const bySession = await listen(person.agentId, { cookie: person.cookie });
  assert.deepEqual([byKey.status, bySession.status], [200, 200]);
  assert.equal((await person.ask('DELETE', `/api/keys/${made.body.id}`)).status, 200);
  await byKey.over;
  assert.equal(bySession.isOver(), false);
  assert.equal((await person.ask('POST', '/api/auth/signout')).status, 200);
  await bySession.over;
});

test(
  'a user has so many of them, others have theirs, and what was closed makes room',
  { timeout: 60_000 },
  async () => {
    const { attacker, bystander } = scene;
    const more = MOST_LOG_STREAMS + 20;
    const open = () => listen(attacker.agentId, { cookie: attacker.cookie });
    const streams = await Promise.all(Array.from({ length: more }, open));
    const other = await listen(bystander.agentId, { cookie: bystander.cookie });
    assert.equal(streams.filter(({ status }) => status === 200).length, MOST_LOG_STREAMS);
    assert.equal(streams.filter(({ status }) => status === 429).length, more - MOST_LOG_STREAMS);
    assert.equal(other.status, 200);
    for (const stream of [...streams, other]) stream.close();
    for (let status = 429; status === 429;) {
      const stream = await open();
      ({ status } = stream);
      stream.close();
    }
  },
);
