import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { errorText } from '@troupe/contract';
import OpenAI from 'openai';
import { silentLog } from '@troupe/kernel';
import { WebSocket } from 'ws';
import { callOnce, counter, lastText, testAgent } from '../testing.ts';
import { createGateway } from './gateway.ts';

const counted = counter();
const { agent, store, model } = await testAgent({
  toolList: [counted.tool],
  definition: { approvals: { count: 'ask' }, role: 'Helper' },
  script: (request, turn, signal) => {
    const text = lastText(request);
    if (text === 'count') return callOnce()(request);
    if (request.messages.at(-1)?.role === 'tool') return `told: ${text}`;
    if (text === 'hang')
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    return `heard ${text} in turn ${turn}`;
  },
});
const tokens = new Map([
  ['owner-token', { id: 'owner', kind: 'owner' as const }],
  ['device-token', { id: 'device-1', kind: 'device' as const }],
  ['member-token', { id: 'member-1', kind: 'member' as const }],
]);
const gateway = createGateway({
  agent: async (id) => (id === 'agent' ? agent : undefined),
  verify: async (_, token) => tokens.get(token),
  publicUrl: (id) => `http://platform.test/${id}`,
  version: '1.2.3',
  log: silentLog,
  recheckMs: 50,
});
const server = http.createServer((request, response) => {
  const [, agentId = '', ...rest] = (request.url ?? '').split('/');
  void gateway.handle(request, response, { agentId, path: `/${rest.join('/')}` });
});
server.on('upgrade', (request, socket, head) => {
  const [, agentId = '', ...rest] = (request.url ?? '').split('/');
  void gateway.upgrade(request, socket, head, { agentId, path: `/${rest.join('/')}` });
});
let base = '';
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`;
});
after(async () => {
  await gateway.close();
  server.closeAllConnections();
  server.close();
});

const headers = { authorization: 'Bearer owner-token', 'content-type': 'application/json' };
type Body = Record<string, unknown> & {
  messages?: unknown[];
  stats?: { runs: number };
  approvals?: { approvalId: string }[];
};
async function call(method: string, path: string, body?: unknown, token = 'owner-token') {
  const response = await fetch(base + path, {
    method,
    headers: { ...headers, authorization: `Bearer ${token}` },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

describe('who may enter', () => {
  test('health, readiness and the card are open; everything else needs the token', async () => {
    for (const path of ['/health', '/ready', '/.well-known/agent-card.json'])
      assert.equal((await fetch(base + path)).status, 200);
    for (const path of ['/sessions', '/config', '/nothing']) {
      const refused = await fetch(base + path);
      assert.equal(refused.status, 401);
      assert.deepEqual(await refused.json(), { error: 'Unauthorized' });
    }
    assert.equal((await call('GET', '/sessions', undefined, 'wrong')).status, 401);
    assert.equal((await fetch(`${base}/sessions?token=owner-token`)).status, 401, 'no token in the address here');
    assert.deepEqual(await call('GET', '/nothing'), { status: 404, body: { error: 'Not found' } });
    assert.equal((await call('DELETE', '/sessions')).status, 405);
    assert.equal((await fetch(base.replace('/agent', '/other') + '/ready')).status, 404);
  });

  test('bad bodies are named', async () => {
    const told = async (path: string, body: unknown) => errorText((await call('POST', path, body)).body['error']);
    assert.equal(await told('/v1/chat/completions', '{'), 'Invalid JSON');
    assert.equal(await told('/v1/chat/completions', {}), 'Messages array is required');
    assert.deepEqual(await call('POST', '/execute', { taskId: 't', prompt: 'x'.repeat(1_100_000) }), {
      status: 413,
      body: { error: 'Request body too large' },
    });
    const plain = await fetch(`${base}/execute`, {
      method: 'POST',
      headers: { authorization: headers.authorization },
      body: 'x',
    });
    assert.equal(plain.status, 400);
    assert.deepEqual((await call('POST', '/execute', { taskId: 't' })).body, { error: 'prompt required' });
    const messages = [{ role: 'robot', content: 'x' }];
    assert.match((await told('/v1/chat/completions', { messages })) ?? '', /^messages\.0/);
    assert.equal(await told('/v1/chat/completions', { messages: [], stream: 'yes' }), 'Messages array is required');
    assert.match(String((await call('POST', '/bus', { messageId: 'x' })).body['error']), /Invalid message/);
  });
});

describe('OpenAI clients', () => {
  const client = () => new OpenAI({ baseURL: `${base}/v1`, apiKey: 'owner-token', maxRetries: 0 });

  test('talk to the agent, with their own history or with a session', async () => {
    const answer = await client().chat.completions.create({
      model: 'x',
      messages: [
        { role: 'user', content: 'earlier' },
        { role: 'assistant', content: 'yes' },
        { role: 'user', content: [{ type: 'text', text: 'now' }] },
      ],
    });
    assert.match(answer.choices[0]?.message.content ?? '', /^heard now/);
    assert.deepEqual(
      model.requests
        .at(-1)
        ?.messages.slice(1)
        .map(({ content }) => content),
      ['earlier', 'yes', 'now'],
    );
    const ask = (content: string) =>
      client().chat.completions.create({ model: 'x', user: 'u1', messages: [{ role: 'user', content }] });
    await ask('one');
    await ask('two');
    assert.equal(model.requests.at(-1)?.messages.length, 4);
    assert.equal((await client().models.list()).data.length, 1);
  });

  test('get the answer as it is written', async () => {
    const stream = await client().chat.completions.create({
      model: 'x',
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: 'go' }],
    });
    const pieces: string[] = [];
    let tokens_ = 0;
    for await (const chunk of stream) {
      pieces.push(chunk.choices[0]?.delta.content ?? '');
      tokens_ = chunk.usage?.total_tokens ?? tokens_;
    }
    assert.match(pieces.join(''), /^heard go in turn \d+$/);
    assert.ok(pieces.filter(Boolean).length > 1);
    assert.equal(tokens_, 15);
  });
});

describe('work from the platform', () => {
  test('a scheduled prompt is answered; the same occurrence only once', async () => {
    const first = await call('POST', '/execute', { taskId: 't1', prompt: 'daily', runId: 'r1' });
    assert.equal(first.status, 200);
    assert.equal(first.body['status'], 'completed');
    const calls = model.requests.length;
    const again = await call('POST', '/execute', { taskId: 't1', prompt: 'daily', runId: 'r1' });
    assert.equal(again.body['output'], first.body['output']);
    assert.equal(model.requests.length, calls);
  });

  test('a bus message is taken once', async () => {
    const message = {
      version: '1.0',
      messageId: 'm1',
      from: { agentId: 'other' },
      to: { agentId: 'agent' },
      action: 'HELLO',
      payload: { a: 1 },
    };
    const first = await call('POST', '/bus', { message });
    assert.deepEqual([first.status, first.body['duplicate']], [202, false]);
    assert.equal((await call('POST', '/bus', message)).body['duplicate'], true);
    for await (const live of agent.follow(String(first.body['sessionId']), 0, AbortSignal.timeout(5000))) {
      if (live.kind === 'event' && live.event.type === 'run_ended') break;
    }
    assert.ok(model.requests.some((request) => lastText(request).includes('HELLO')));
  });

  test('configuration is taken over without a restart, by the owner only', async () => {
    assert.equal((await call('PUT', '/config', { model: { default: 'changed' } }, 'device-token')).status, 403);
    assert.equal((await call('PUT', '/config', { config: { model: { default: 'changed' } } })).status, 200);
    await call('POST', '/execute', { taskId: 't2', prompt: 'x' });
    assert.equal(model.requests.at(-1)?.model, 'changed');
    assert.match(String((await call('PUT', '/config', { memory: { ttlDays: 'x' } })).body['error']), /memory.ttlDays/);
  });

  test('records are the agent’s own', async () => {
    const { body } = await call('GET', '/messages?limit=2');
    assert.equal(body.messages?.length, 2);
    assert.ok(Number((await call('GET', '/stats')).body.stats?.runs) > 0);
    await call('PUT', '/memory', { key: 'colour', content: 'blue' });
    assert.equal((await call('GET', '/memory')).body['count'], 1);
    assert.ok(Array.isArray((await call('GET', '/logs?level=info')).body['logs']));
    assert.equal((await call('GET', '/logs?level=loud')).status, 400);
  });
});

describe('sessions', () => {
  test('their events are streamed from where the reader was', async () => {
    const { body } = await call('POST', '/execute', { taskId: 't3', prompt: 'x' });
    const url = `${base}/sessions/${String(body['sessionId'])}/events`;
    const response = await fetch(url, { headers: { ...headers, 'last-event-id': '1' } });
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    let text = '';
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += new TextDecoder().decode(chunk);
      if (text.includes('run_ended')) break;
    }
    assert.deepEqual(
      [...text.matchAll(/^id: (\d+)$/gm)].map((match) => match[1]),
      ['2', '3'],
    );
    const statuses = ['unknown', '😀', '..%2f..', '%E0%A4%A', '%00'].map(
      async (id) => (await call('GET', `/sessions/${id}`)).status,
    );
    assert.deepEqual(await Promise.all(statuses), [404, 404, 400, 404, 400]);
    assert.ok(Number((await call('GET', '/sessions')).body['count']) > 0);
  });

  test('are cancelled', async () => {
    const running = call('POST', '/execute', { taskId: 't4', prompt: 'hang' });
    let open: { id: string }[] = [];
    while (open.length === 0) {
      await new Promise(setImmediate);
      open = (await store.sessions({ limit: 10, offset: 0 })).filter(({ status }) => status === 'open');
    }
    assert.deepEqual((await call('POST', `/sessions/${open[0]?.id}/cancel`)).body, { success: true, cancelled: true });
    assert.equal((await running).body['error'], 'cancelled');
  });

  test('approvals are listed and decided', async () => {
    const asked = await call('POST', '/execute', { taskId: 't5', prompt: 'count' });
    assert.equal(asked.body['status'], 'waiting');
    const [pending] = (await call('GET', '/approvals')).body.approvals ?? [];
    assert.equal((await call('POST', `/approvals/${pending?.approvalId}`, { approved: 'yes' })).status, 400);
    for (const other of ['device-token', 'member-token'])
      assert.equal((await call('POST', `/approvals/${pending?.approvalId}`, { approved: true }, other)).status, 403);
    assert.equal((await call('POST', `/approvals/${pending?.approvalId}`, { approved: true })).status, 200);
    assert.equal((await call('POST', `/approvals/${pending?.approvalId}`, { approved: true })).status, 409);
    assert.equal((await call('POST', '/approvals/none', { approved: true })).status, 404);
  });
});

describe('web chat', () => {
  const connect = (token: string) => new WebSocket(`${base.replace('http', 'ws')}/ws?token=${token}`);

  async function* messages(socket: WebSocket): AsyncGenerator<Record<string, string>> {
    const queue: Record<string, string>[] = [];
    let wake: () => void = () => {};
    socket.on('message', (data: Buffer) => {
      queue.push(JSON.parse(data.toString()) as Record<string, string>);
      wake();
    });
    for (;;) {
      const next = queue.shift();
      if (next) yield next;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }

  test('answers, with text as it is written', async () => {
    const socket = connect('owner-token');
    const seen = messages(socket);
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send('{');
    assert.deepEqual((await seen.next()).value, { type: 'error', error: 'Invalid JSON' });
    socket.send(JSON.stringify({ type: 'shout' }));
    assert.deepEqual((await seen.next()).value, { type: 'error', error: 'type is not valid' });
    socket.send(JSON.stringify({ type: 'message', content: 'hello there', id: 'w1' }));
    const kinds: string[] = [];
    let answer = '';
    for await (const { type, content } of seen) {
      kinds.push(type ?? '');
      if (type === 'answer') {
        answer = content ?? '';
        break;
      }
    }
    assert.match(answer, /^heard hello there/);
    assert.ok(kinds.includes('session') && kinds.includes('delta') && kinds.includes('event'));
    socket.close();
  });

  test('decides, cancels and reads along', async () => {
    const socket = connect('owner-token');
    const seen = messages(socket);
    await new Promise((resolve) => socket.once('open', resolve));
    const say = (message: object) => socket.send(JSON.stringify(message));
    const until = async (type: string): Promise<Record<string, string>> => {
      for (;;) {
        const { value } = (await seen.next()) as { value: Record<string, string> };
        if (value['type'] === type) return value;
      }
    };
    say({ type: 'ping' });
    await until('pong');
    say({ type: 'watch', session: 'none' });
    assert.equal((await until('error'))['error'], 'Session not found');

    say({ type: 'message', content: 'count', session: 'ws-approval' });
    const { session, outcome } = await until('answer');
    assert.equal(outcome, 'waiting');
    const approvals = (await store.pendingApprovals()).filter(({ sessionId }) => sessionId === session);
    assert.equal(approvals.length, 1);
    say({ type: 'approval', approvalId: approvals[0]?.approvalId, approved: true });
    say({ type: 'watch', session, after: 1 });
    const seqs: number[] = [];
    for (let type = ''; type !== 'run_ended';) {
      const { event } = (await until('event')) as unknown as { event: { type: string; seq: number } };
      seqs.push(event.seq);
      ({ type } = event);
    }
    assert.deepEqual(
      seqs,
      seqs.map((_, index) => index + 2),
      'from where the reader was, without a gap',
    );

    say({ type: 'message', content: 'hang', session: 'ws-cancel' });
    const hanging = (await until('session'))['session'];
    while ((await store.session(hanging ?? ''))?.status !== 'open') await new Promise(setImmediate);
    say({ type: 'cancel', session: hanging });
    assert.equal((await until('answer'))['outcome'], 'cancelled');
    socket.close();
  });

  test('a wrong token is refused; a revoked one is cut at once, and without a word from anybody soon', async () => {
    const refused = connect('wrong');
    const [status] = await new Promise<[number]>((resolve) =>
      refused.once('unexpected-response', (_, response) => resolve([response.statusCode ?? 0])),
    );
    assert.equal(status, 401);
    const closed = async (socket: WebSocket) => new Promise<number>((resolve) => socket.once('close', resolve));
    const first = connect('device-token');
    await new Promise((resolve) => first.once('open', resolve));
    const cut = closed(first);
    gateway.cut('device-1');
    assert.equal(await cut, 4401);
    const second = connect('device-token');
    await new Promise((resolve) => second.once('open', resolve));
    const revoked = closed(second);
    tokens.delete('device-token');
    assert.equal(await revoked, 4401);
  });
});
