import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/** A stream of notices went on after its session had ended, and one user had as many as there are connections. */

let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

async function listen(headers: Record<string, string>) {
  const request = http.get(`${scene.web}/api/notices`, {
    headers: { accept: 'text/event-stream', ...headers },
    agent: false,
  });
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

test('a stream of notices ends with the session or the key that opened it', { timeout: 60_000 }, async () => {
  const person = await scene.person();
  const made = await person.ask('POST', '/api/keys', { name: 'listens' });
  const byKey = await listen({ authorization: `Bearer ${made.body.key}` });
  const bySession = await listen({ cookie: person.cookie });
  assert.deepEqual([byKey.status, bySession.status], [200, 200]);
  assert.equal((await person.ask('DELETE', `/api/keys/${made.body.id}`)).status, 200);
  await byKey.over;
  assert.equal(bySession.isOver(), false);
  assert.equal((await person.ask('POST', '/api/auth/signout')).status, 200);
  await bySession.over;
});

test('a user has so many of them, and others have theirs', { timeout: 60_000 }, async () => {
  const { attacker, bystander } = scene;
  const streams = await Promise.all(Array.from({ length: 60 }, () => listen({ cookie: attacker.cookie })));
  const other = await listen({ cookie: bystander.cookie });
  assert.equal(streams.filter(({ status }) => status === 200).length, 40);
  assert.equal(streams.filter(({ status }) => status === 429).length, 20);
  assert.equal(other.status, 200);
  for (const stream of [...streams, other]) stream.close();
  // What was closed makes room.
  for (let again = 429; again === 429;) {
    const stream = await listen({ cookie: attacker.cookie });
    again = stream.status;
    stream.close();
  }
});
