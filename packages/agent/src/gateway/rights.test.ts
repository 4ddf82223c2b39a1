import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { errorText } from '@troupe/contract';
import { silentLog } from '@troupe/kernel';
import { WebSocket } from 'ws';
import { callOnce, counter, lastText, testAgent } from '../testing.ts';
import { createGateway, ROUTES } from './gateway.ts';
import type { GatewayPrincipal, Showing } from './types.ts';
import { FRAME_RIGHTS } from './web-chat.ts';

/** Every way into an agent, tried by everybody who may knock. A way that is not in the table fails the test. */

const counted = counter();
const { agent, store } = await testAgent({
  toolList: [counted.tool],
  definition: { approvals: { count: 'ask' } },
  script: (request) => (lastText(request) === 'count' ? callOnce()(request) : 'ok'),
});

type Who = 'owner' | 'ticket' | 'device' | 'other' | 'member' | 'key';
const PEOPLE: Record<Who, GatewayPrincipal> = {
  owner: { id: 'owner:agent', kind: 'owner' },
  ticket: { id: 'session:1', kind: 'owner' },
  device: { id: 'device:1', kind: 'device' },
  other: { id: 'device:2', kind: 'device' },
  member: { id: 'member:scout', kind: 'member' },
  key: { id: 'key:1', kind: 'key' },
};
const gateway = createGateway({
  agent: async () => agent,
  verify: async (_, token, { socket }: Showing) =>
    token === 'ticket' && !socket ? undefined : (PEOPLE as Record<string, GatewayPrincipal>)[token],
  publicUrl: () => 'http://platform.test',
  version: '1.2.3',
  log: silentLog,
});
const server = http.createServer(
  (request, response) => void gateway.handle(request, response, { agentId: 'agent', path: request.url ?? '/' }),
);
server.on(
  'upgrade',
  (request, socket, head) =>
    void gateway.upgrade(request, socket, head, { agentId: 'agent', path: request.url ?? '/' }),
);
let base = '';
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(async () => {
  await gateway.close();
  server.closeAllConnections();
  server.close();
});

// oxlint-disable-next-line typescript/no-explicit-any -- each test says what it reads of an answer
type Body = any;
async function call(who: string, method: string, path: string, body?: unknown) {
  const response = await fetch(base + path, {
    method,
    headers: { authorization: `Bearer ${who}`, 'content-type': 'application/json' },
    ...(method !== 'GET' && { body: JSON.stringify(body ?? {}) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text.startsWith('{') ? JSON.parse(text) : text) as Body };
}

const ALL = ['owner', 'device', 'member', 'key'] as const;
const TALKERS = ['owner', 'device'] as const;
const SPEAKERS = ['owner', 'device', 'key'] as const;
const TABLE: Record<string, readonly (typeof ALL)[number][]> = {
  'POST /v1/chat/completions': SPEAKERS,
  'POST /v1/messages': SPEAKERS,
  'POST /v1/responses': SPEAKERS,
  'POST /v1/messages/count_tokens': SPEAKERS,
  'POST /v1/embeddings': SPEAKERS,
  'GET /v1/models': SPEAKERS,
  'GET /v1/models/x': SPEAKERS,
  'GET /v1/models/x/x': SPEAKERS,
  'POST /mcp': SPEAKERS,
  'GET /mcp': SPEAKERS,
  'DELETE /mcp': SPEAKERS,
  'POST /ag-ui': SPEAKERS,
  'POST /a2a': SPEAKERS,
  'GET /sessions': TALKERS,
  'GET /sessions/x': TALKERS,
  'GET /sessions/x/events': TALKERS,
  'POST /sessions/x/cancel': TALKERS,
  'PATCH /sessions/x': TALKERS,
  'DELETE /sessions/x': TALKERS,
  'GET /sessions/x/branches': TALKERS,
  'POST /sessions/x/branches': TALKERS,
  'GET /search': TALKERS,
  'GET /files': ['owner'],
  'GET /files/find': ['owner'],
  'GET /files/content': ['owner'],
  'GET /files/preview': ['owner'],
  'GET /files/zip': ['owner'],
  'PUT /files/content': ['owner'],
  'DELETE /files': ['owner'],
  'POST /messages': TALKERS,
  'POST /notes': ['owner'],
  'POST /execute': ['owner', 'member'],
  'POST /tasks/cancel': ['owner', 'member'],
  'GET /mcp-servers': ['owner'],
  'PUT /mcp-servers/x': ['owner'],
  'DELETE /mcp-servers/x': ['owner'],
  'POST /mcp-servers/x/test': ['owner'],
  'POST /mcp-servers/x/update': ['owner'],
  'POST /mcp-servers/x/consent': ['owner'],
  'POST /mcp-servers/x/consented': ['owner'],
  'GET /approvals': ['owner'],
  'GET /approvals/asked': ['owner'],
  'POST /approvals/x': ['owner'],
  'GET /background': ['owner'],
  'GET /background/x': ['owner'],
  'POST /background/x/stop': ['owner'],
  'GET /logs': ['owner'],
  'GET /messages': ['owner'],
  'GET /stats': ['owner'],
  'GET /memory': ['owner'],
  'GET /memory/care': ['owner'],
  'GET /config': ['owner'],
  'GET /definition': ['owner'],
  'PUT /memory': ['owner'],
  'DELETE /memory/x': ['owner'],
  'POST /memory/facts/x': ['owner'],
  'PUT /config': ['owner'],
  'PUT /definition': ['owner'],
  'POST /heartbeat': ['owner'],
  'POST /bus': ['owner'],
  'POST /reset': ['owner'],
};

describe('the ways into an agent', () => {
  test('are all in the table', () => {
    const pathOf = (path: RegExp): string =>
      path.source
        .slice(1, -1)
        .replaceAll(String.raw`\/`, '/')
        .replaceAll('([^/]+)', 'x');
    assert.deepEqual(ROUTES.map(([method, path]) => `${method} ${pathOf(path)}`).sort(), Object.keys(TABLE).sort());
    assert.deepEqual(Object.keys(FRAME_RIGHTS).sort(), ['approval', 'cancel', 'message', 'ping', 'watch']);
  });

  for (const [way, allowed] of Object.entries(TABLE))
    test(`${way}: ${allowed.join(' and ')}`, async () => {
      const [method = '', path = ''] = way.split(' ');
      for (const who of ALL) {
        const { status, body } = await call(who, method, path);
        if (allowed.includes(who)) assert.ok(status !== 401 && status !== 403, `${who}: ${status}`);
        else assert.deepEqual([status, errorText(body['error'])], [403, 'Only the owner may do this'], who);
      }
      assert.equal((await call('ticket', method, path)).status, 401, 'a ticket opens the WebSocket only');
      assert.equal((await call('nobody', method, path)).status, 401);
    });
});

describe('conversations of others', () => {
  const talk = (who: Who, key: string) =>
    call(who, 'POST', '/v1/chat/completions', { user: key, messages: [{ role: 'user', content: `I am ${who}` }] });
  const sessionsOf = async (who: Who) => (await call(who, 'GET', '/sessions')).body.sessions as { id: string }[];

  test('are not a device’s to see, to follow or to cancel, however it names them', async () => {
    await talk('owner', 'same');
    await talk('device', 'same');
    await talk('other', 'device:1:same');
    assert.ok((await sessionsOf('owner')).length >= 3, 'the owner sees all');
    const [own, ...more] = await sessionsOf('device');
    assert.deepEqual(more, []);
    assert.equal((await call('device', 'GET', `/sessions/${own!.id}`)).status, 200);
    assert.match(JSON.stringify((await call('device', 'GET', `/sessions/${own!.id}`)).body), /I am device/);
    assert.doesNotMatch(JSON.stringify((await call('device', 'GET', `/sessions/${own!.id}`)).body), /I am o/);
    for (const { id } of (await sessionsOf('owner')).filter((session) => session.id !== own!.id))
      for (const [method, at] of [
        ['GET', ''],
        ['GET', '/events'],
        ['POST', '/cancel'],
      ] as const)
        assert.deepEqual((await call('device', method, `/sessions/${id}${at}`)).body, { error: 'Session not found' });
  });

  test('nor by A2A', async () => {
    const rpc = (who: Who, method: string, params: object) =>
      call(who, 'POST', '/a2a', { jsonrpc: '2.0', id: 1, method, params });
    const message = { kind: 'message', messageId: 'm1', role: 'user', parts: [{ kind: 'text', text: 'secret' }] };
    const sent = (await rpc('owner', 'message/send', { message })).body.result;
    assert.ok(sent.id, JSON.stringify(sent));
    assert.equal((await rpc('owner', 'tasks/get', { id: sent.id })).body.result.id, sent.id);
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/resubscribe'])
      assert.ok((await rpc('device', method, { id: sent.id })).body.error, method);
  });
});

describe('the WebSocket', () => {
  async function opened(who: Who) {
    const socket = new WebSocket(`${base.replace('http', 'ws')}/ws?token=${who}`);
    const heard = new EventEmitter();
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Body;
      heard.emit(message.type as string, message);
    });
    await once(socket, 'open');
    return {
      socket,
      async say(frame: object, answer: string): Promise<Body> {
        const waiting = once(heard, answer);
        socket.send(JSON.stringify(frame));
        return (await waiting)[0];
      },
    };
  }

  test('lets only the owner decide, with a token or a ticket', async () => {
    for (const owner of ['owner', 'ticket'] as const) {
      await agent.ask({ to: { channel: 'test', key: owner }, content: 'count', from: 'owner' });
      const [pending] = await store.pendingApprovals();
      const frame = { type: 'approval', approvalId: pending!.approvalId, approved: true };
      for (const who of ['device', 'member'] as const) {
        const { socket, say } = await opened(who);
        assert.equal((await say(frame, 'error')).error, 'Only the owner may do this');
        socket.close();
      }
      assert.equal((await store.pendingApprovals()).length, 1, 'still to be decided');
      const { socket, say } = await opened(owner);
      await say({ type: 'ping' }, 'pong');
      socket.send(JSON.stringify(frame));
      while ((await store.pendingApprovals()).length > 0) await new Promise(setImmediate);
      socket.close();
    }
  });

  test('shows a device its own conversations only, and a member none', async () => {
    const { sessionId } = await agent.ask({ to: { channel: 'webchat', key: 'k' }, content: 'hello', from: 'owner' });
    const device = await opened('device');
    assert.equal((await device.say({ type: 'watch', session: sessionId }, 'error')).error, 'Session not found');
    assert.equal((await device.say({ type: 'cancel', session: sessionId }, 'error')).error, 'Session not found');
    const { session } = await device.say({ type: 'message', session: 'k', content: 'hi' }, 'answer');
    assert.notEqual(session, sessionId, 'not the owner’s conversation of that name');
    assert.equal((await device.say({ type: 'watch', session }, 'event')).session, session);
    device.socket.close();
    const member = await opened('member');
    assert.equal((await member.say({ type: 'message', content: 'hi' }, 'error')).error, 'Only the owner may do this');
    member.socket.close();
  });
});
