import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { person, provisioned, send, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

let services: Services;
let ann: Person;
let ben: Person;
let sessions: string;
let shares: string;
let sessionId: string;
before(async () => {
  services = await startServices();
  ann = await person(services, { plan: 'solo' });
  ben = await person(services, { plan: 'solo' });
  const id = await provisioned(ann);
  sessions = `/api/agents/${id}/sessions`;
  shares = `/api/agents/${id}/shares`;
  await ann.ask('POST', '/api/chat', { agentId: id, message: 'hello there' });
  sessionId = (await ann.ask('GET', sessions)).body.sessions[0].id;
});
after(() => services.stop());

const read = (token: string) => send(`${services.web}/api/shared/${token}`, 'GET');
const NOTHING = {
  status: 404,
  body: { error: 'This link shows nothing: it was removed, or there never was one' },
};

test('whoever has the link reads the words, until it is removed; only its hash is kept', async () => {
  const made = await ann.ask('POST', `${sessions}/${sessionId}/share`);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { url, ...told } = made.body;
  const token = String(url).split('/').at(-1)!;
  const { body } = await read(token);
  assert.deepEqual([body.agent, body.messages[0].role, body.messages[0].text], ['Ada', 'user', 'hello there']);
  assert.deepEqual((await ann.ask('GET', shares)).body.shares, [told]);
  const kept = await services.runtime.db.system.selectFrom('conversation_shares').selectAll().execute();
  assert.ok(!JSON.stringify(kept).includes(token));

  assert.equal((await ann.ask('DELETE', `${shares}/${made.body.id}`)).status, 200);
  assert.deepEqual(await read(token), NOTHING);
  assert.deepEqual(await ann.ask('DELETE', `${shares}/${made.body.id}`), {
    status: 404,
    body: { error: 'Link not found' },
  });
});

test('nobody else makes, lists or removes one, and what is no token shows nothing', async () => {
  const { id } = (await ann.ask('POST', `${sessions}/${sessionId}/share`)).body;
  for (const [method, path] of [
    ['POST', `${sessions}/${sessionId}/share`],
    ['GET', shares],
    ['DELETE', `${shares}/${id}`],
  ] as const) {
    assert.equal((await ben.ask(method, path)).status, 404, method);
    assert.equal((await send(services.web + path, method)).status, 401, method);
  }
  assert.equal((await ann.ask('GET', shares)).body.shares.length, 1);
  assert.equal((await ann.ask('POST', `${sessions}/nothing/share`)).status, 404);
  for (const token of ['0'.repeat(64), 'x', '%00']) assert.ok((await read(token)).status >= 400, token);
  assert.deepEqual(await read('0'.repeat(64)), NOTHING);
});
