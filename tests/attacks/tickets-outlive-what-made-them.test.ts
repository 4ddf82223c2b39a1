import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { newId, sha256Hex } from '@troupe/kernel';
import { WebSocket } from 'ws';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { cookieOf, send, type Reply } from '@troupe/testing/services/people';

/** A websocketUrl changed configuration and reset an agent after sign-out, and for twelve hours; no token could be rotated. */

let scene: Scene;
before(async () => {
  scene = await startScene();
});
after(() => scene.stop());

type Actor = Scene['attacker'];
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const gateway = (agentId: string, method: string, path: string, token: string, body?: unknown): Promise<Reply> =>
  send(`${scene.backend}/api/runtime/proxy/${agentId}${path}`, method, body, bearer(token));
const urlBy = async (ask: (path: string) => Promise<Reply>, agentId: string): Promise<string> =>
  (await ask(`/api/agents/${agentId}`)).body.agent.websocketUrl;
const ticketIn = (url: string): string => new URL(url).searchParams.get('token')!;

async function opened(url: string): Promise<{ socket: WebSocket; cut: Promise<unknown[]> }> {
  const socket = new WebSocket(url);
  await once(socket, 'open');
  return { socket, cut: once(socket, 'close') };
}
async function refused(url: string): Promise<number> {
  const [, response] = await once(new WebSocket(url), 'unexpected-response');
  response.destroy();
  return response.statusCode;
}

/** Another session, or key, of somebody. */
async function sessionOf(who: Actor): Promise<{ id: string; cookie: string }> {
  const token = sha256Hex(newId());
  const id = newId();
  const at = new Date();
  await scene.database.db.system
    .insertInto('sessions')
    .values({
      id,
      user_id: who.id,
      token_hash: sha256Hex(token),
      device: 'other',
      ip: '127.0.0.1',
      created_at: at,
      last_seen_at: at,
      expires_at: new Date(at.getTime() + 3_600_000),
    })
    .execute();
  return { id, cookie: `svc-session=${token}` };
}
const ask = (who: Actor, cookie: string) => (path: string) => who.ask('GET', path, undefined, { cookie });

test('a ticket opens the WebSocket and nothing else', async () => {
  const { agentId } = scene.attacker;
  const ticket = ticketIn(await urlBy((path) => scene.attacker.ask('GET', path), agentId));
  for (const [method, path, body] of [
    ['PUT', '/config', { model: { default: 'other' } }],
    ['POST', '/reset', {}],
    ['GET', '/sessions', undefined],
    ['POST', '/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }] }],
  ] as const)
    assert.equal((await gateway(agentId, method, path, ticket, body)).status, 401, path);
  const events = `${scene.backend}/api/runtime/proxy/${agentId}/sessions/x/events?token=${ticket}`;
  assert.equal((await fetch(events)).status, 401);
});

test('a ticket opens one WebSocket, however many ask at once', async () => {
  const { attacker, database } = scene;
  const url = await urlBy((path) => attacker.ask('GET', path), attacker.agentId);
  const sockets = Array.from({ length: 8 }, () => new WebSocket(url));
  const outcomes = await Promise.all(
    sockets.map((socket) =>
      Promise.race([
        once(socket, 'open').then(() => 101),
        once(socket, 'unexpected-response').then(([, response]) => {
          response.destroy();
          return response.statusCode as number;
        }),
      ]),
    ),
  );
  assert.deepEqual(
    outcomes.toSorted((a, b) => a - b),
    [101, ...Array(7).fill(401)],
  );
  // It stays open, though its ticket opens nothing any more.
  const open = sockets[outcomes.indexOf(101)]!;
  assert.equal(await refused(url), 401);
  assert.equal(open.readyState, WebSocket.OPEN);
  open.close();
  // What has ended is forgotten with the next one.
  const { system } = database.db;
  await system
    .updateTable('used_tickets')
    .set({ expires_at: new Date(0) })
    .execute();
  (await opened(await urlBy((path) => attacker.ask('GET', path), attacker.agentId))).socket.close();
  assert.equal((await system.selectFrom('used_tickets').select('hash').execute()).length, 1);
});

describe('a ticket, and the socket that it opened, end', { timeout: 120_000 }, () => {
  for (const [how, end] of [
    ['with a sign-out', (who: Actor, cookie: string) => who.ask('POST', '/api/auth/signout', {}, { cookie })],
    [
      'with the session, ended from elsewhere',
      (who: Actor, _: string, id: string) => who.ask('DELETE', `/api/auth/sessions/${id}`),
    ],
  ] as const)
    test(how, async () => {
      const who = scene.attacker;
      const { id, cookie } = await sessionOf(who);
      const url = await urlBy(ask(who, cookie), who.agentId);
      const spare = await urlBy(ask(who, cookie), who.agentId);
      const own = await opened(await urlBy((path) => who.ask('GET', path), who.agentId));
      const { cut } = await opened(url);
      const reply = await end(who, cookie, id);
      assert.ok(reply.status < 300, JSON.stringify(reply));
      await cut;
      assert.equal(await refused(spare), 401);
      assert.equal(own.socket.readyState, WebSocket.OPEN, 'that of the other session stays');
      own.socket.close();
    });

  test('with the API key', async () => {
    const who = scene.attacker;
    const { id, key } = (await who.ask('POST', '/api/keys', { name: 'leaked' })).body;
    const make = () => urlBy((path) => send(scene.web + path, 'GET', undefined, bearer(key)), who.agentId);
    const spare = await make();
    const { cut } = await opened(await make());
    assert.equal((await who.ask('DELETE', `/api/keys/${id}`)).status, 200);
    await cut;
    assert.equal(await refused(spare), 401);
  });

  test('with all sessions, whatever ends them, and with the user', async () => {
    const who = await scene.person();
    const { id } = who;
    const { db } = scene.database;
    const first = await opened(await urlBy((path) => who.ask('GET', path), who.agentId));
    await db.asSystem((tx) => tx.deleteFrom('sessions').where('user_id', '=', id).execute());
    await first.cut;
    const cookie = await cookieOf(db, who);
    const second = await opened(await urlBy(ask(who, cookie), who.agentId));
    await db.asSystem((tx) => tx.deleteFrom('users').where('id', '=', id).execute());
    await second.cut;
  });

  test('a session that is none of the owner’s makes none', async () => {
    const { attacker, bystander } = scene;
    const forged = ticketIn(await urlBy((path) => attacker.ask('GET', path), attacker.agentId));
    const { websocketUrl } = (await bystander.ask('GET', `/api/agents/${bystander.agentId}`)).body.agent;
    assert.equal(await refused(`${websocketUrl.split('?')[0]}?token=${forged}`), 401);
    const [until, holder, nonce, signature] = ticketIn(websocketUrl).split('.');
    const other = ticketIn(await urlBy((path) => attacker.ask('GET', path), attacker.agentId)).split('.')[1];
    assert.notEqual(holder, other);
    assert.equal(await refused(`${websocketUrl.split('?')[0]}?token=${until}.${other}.${nonce}.${signature}`), 401);
    assert.equal(await refused(`${websocketUrl.split('?')[0]}?token=${until}.${holder}.0.${signature}`), 401);
  });
});

test('an owner rotates an agent’s token: the old one and all that it opened end, and it is on record', async () => {
  const { attacker, bystander } = scene;
  const { agentId } = attacker;
  const path = `/api/agents/${agentId}/token`;
  const { token: old } = (await attacker.ask('GET', path)).body;
  const url = await urlBy((at) => attacker.ask('GET', at), agentId);
  const spare = await urlBy((at) => attacker.ask('GET', at), agentId);
  const byToken = await opened(`${url.split('?')[0]}?token=${old}`);
  const byTicket = new WebSocket(url);
  await once(byTicket, 'open');
  assert.equal((await bystander.ask('POST', `${path}/rotate`)).status, 404, 'not another’s');
  assert.equal((await gateway(agentId, 'GET', '/sessions', old)).status, 200);
  const rotated = await attacker.ask('POST', `${path}/rotate`);
  assert.equal(rotated.status, 200, JSON.stringify(rotated.body));
  const { token } = rotated.body;
  assert.notEqual(token, old);
  assert.equal((await gateway(agentId, 'GET', '/sessions', old)).status, 401);
  assert.equal((await gateway(agentId, 'GET', '/sessions', token)).status, 200);
  assert.equal((await attacker.ask('GET', path)).body.token, token);
  await byToken.cut;
  assert.equal(await refused(spare), 401);
  if (byTicket.readyState !== WebSocket.CLOSED) await once(byTicket, 'close');
  assert.equal((await attacker.chat({ say: 'works' })).status, 200, 'the agent goes on');
  const entries = (await attacker.ask('GET', '/api/audit')).body.entries as { action: string; detail: object }[];
  const entry = entries.find(({ action }) => action === 'gateway-token-rotated');
  assert.deepEqual(entry?.detail, { agentId, name: 'Ada' });
});
