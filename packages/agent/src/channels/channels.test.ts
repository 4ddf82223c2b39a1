import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { AppError, createOutbound, silentLog } from '@troupe/kernel';
import { WebSocketServer, type WebSocket } from 'ws';
import { callOnce, counter, lastText, testAgent } from '../testing.ts';
import { pieces, type Channel, type ChannelDeps } from './channel.ts';
import { channelWebhook, createChannel } from './channels.ts';
import { whatsAppSecret } from './whatsapp.ts';

const outbound = createOutbound({ allowLoopback: true });
after(() => outbound.close());

interface Called {
  method: string;
  path: string;
  headers: http.IncomingHttpHeaders;
  body: Record<string, unknown>;
}

/** A stand-in for a service: answers by `reply`, and tells what it was asked. */
async function standIn(reply: (call: Called) => unknown) {
  const calls = new EventEmitter();
  const sent: Called[] = [];
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const call = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: JSON.parse(text || '{}') as never,
      };
      void Promise.resolve(reply(call)).then((answer) => {
        const { status = 200, body = answer } = (answer ?? {}) as { status?: number; body?: unknown };
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}));
        sent.push(call);
        calls.emit('call', call);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const called = async (path: string): Promise<Called> => {
    for (;;) {
      const found = sent.findIndex((call) => call.path.includes(path));
      if (found >= 0) return sent.splice(found, 1)[0]!;
      await once(calls, 'call');
    }
  };
  return { url, server, called, sent };
}

const deps = (agent: ChannelDeps['agent'], baseUrl: string, more: Partial<ChannelDeps> = {}): ChannelDeps => ({
  agent,
  token: 'T0KEN',
  outbound,
  log: silentLog,
  baseUrl,
  pollSeconds: 1,
  retryMs: 10,
  ...more,
});

/** Where a service reaches the channel. */
async function webhookOf(channel: Channel): Promise<string> {
  const ours = http.createServer((request, response) => {
    channelWebhook([channel], request.url ?? '', request, response).then(
      (was) => was || response.writeHead(404).end(),
      (error: unknown) => response.writeHead(error instanceof AppError ? error.status : 500).end(),
    );
  });
  await new Promise<void>((resolve) => ours.listen(0, '127.0.0.1', resolve));
  after(() => ours.close().closeAllConnections());
  return `http://127.0.0.1:${(ours.address() as AddressInfo).port}`;
}

test('long answers are cut where they can be', () => {
  assert.deepEqual(pieces('one two three', 8), ['one two', 'three']);
  assert.deepEqual(pieces('x'.repeat(10), 4), ['xxxx', 'xxxx', 'xx']);
  assert.deepEqual(pieces('  ', 4), []);
});

describe('Telegram', () => {
  /** Updates that wait until they are acknowledged by a higher offset, as Telegram keeps them. */
  async function telegram() {
    const updates: { update_id: number; message: object }[] = [];
    const service = await standIn(async ({ path, body }) => {
      if (path !== '/botT0KEN/getUpdates') return { ok: true, result: {} };
      const news = updates.filter(({ update_id }) => update_id >= Number(body['offset']));
      if (news.length === 0) await new Promise((resolve) => setTimeout(resolve, 30));
      return { ok: true, result: news };
    });
    const write = (id: number, text: string, from = 7) =>
      updates.push({ update_id: id, message: { message_id: id, text, chat: { id: 55 }, from: { id: from } } });
    return { ...service, write };
  }

  test('messages are answered, in the chat’s own session, and strangers are not', async () => {
    const { url, write, called, sent } = await telegram();
    const { agent, store } = await testAgent({ script: (request) => `heard ${lastText(request)}` });
    const channel = createChannel('telegram', deps(agent, url, { allowedSenders: ['7'] }));
    await channel.start();
    write(1, 'from a stranger', 8);
    write(2, 'hello');
    const { body } = await called('sendMessage');
    assert.deepEqual([body['chat_id'], body['text']], [55, 'heard hello']);
    await channel.stop();
    const [session] = await store.sessions({ limit: 5, offset: 0 });
    assert.deepEqual([session?.channel, session?.key], ['telegram', '55']);
    assert.ok(sent.every(({ path }) => !path.includes('sendMessage')));
    assert.deepEqual(await store.channelState('telegram'), { pending: [], offset: 3 });
  });

  test('an answer that a crash left behind is delivered at the next start, once', async () => {
    const { url, write, called } = await telegram();
    let fail = true;
    const script = (request: Parameters<typeof lastText>[0]) => {
      if (fail) throw new AppError(502, 'down');
      return `heard ${lastText(request)}`;
    };
    const { agent, store, model } = await testAgent({ script });
    // As a process leaves it that dies between storing the message and sending the answer.
    const pending = [{ id: '55:1', chat: '55', sender: '7', text: 'still there?' }];
    await store.changeChannelState('telegram', () => ({ pending, offset: 2 }));
    write(1, 'still there?');
    fail = false;
    const channel = createChannel('telegram', deps(agent, url));
    await channel.start();
    assert.equal((await called('sendMessage')).body['text'], 'heard still there?');
    await channel.stop();
    assert.equal(model.requests.length, 1);
  });

  test('what another process answers is left alone, and taken up when that one is gone', async () => {
    const { url, called } = await telegram();
    const { agent, store } = await testAgent({ script: (request) => `heard ${lastText(request)}` });
    const until = Date.now() + 300;
    const message = { id: '55:1', chat: '55', sender: '7', text: 'still there?', by: 'the other', until };
    await store.changeChannelState('telegram', () => ({ pending: [message] }));
    const channel = createChannel('telegram', deps(agent, url, { holdMs: 90 }));
    await channel.start();
    assert.equal((await called('sendMessage')).body['text'], 'heard still there?');
    assert.ok(Date.now() >= until);
    await channel.stop();
    assert.deepEqual((await store.channelState('telegram'))['pending'], []);
  });

  test('an answer that the service does not take is sent again, without another model call', async () => {
    let refusals = 2;
    const { url, called } = await standIn(async ({ path, body }) => {
      if (path.endsWith('sendMessage'))
        return refusals-- > 0 ? { status: 500, body: { ok: false } } : { ok: true, result: {} };
      await new Promise((resolve) => setTimeout(resolve, 10));
      const message = { message_id: 1, text: 'hello', chat: { id: 55 }, from: { id: 7 } };
      return { ok: true, result: Number(body['offset']) > 1 ? [] : [{ update_id: 1, message }] };
    });
    const { agent, store, model } = await testAgent();
    const channel = createChannel('telegram', deps(agent, url, { holdMs: 15 }));
    await channel.start();
    for (let sends = 0; sends < 3; sends++) assert.equal((await called('sendMessage')).body['text'], 'ok');
    await channel.stop();
    assert.deepEqual((await store.channelState('telegram'))['pending'], []);
    assert.equal(model.requests.length, 1);
    assert.match((await store.logs({ limit: 1, level: 'error' })).logs[0]?.message ?? '', /not be delivered yet/);
  });

  test('an answer that waited for an approval is sent when somebody has decided', async () => {
    const { url, write, called } = await telegram();
    const { agent, store } = await testAgent({
      script: callOnce(),
      toolList: [counter().tool],
      definition: { approvals: { count: 'ask' } },
    });
    const channel = createChannel('telegram', deps(agent, url, { holdMs: 30 }));
    await channel.start();
    write(1, 'count, please');
    assert.match(String((await called('sendMessage')).body['text']), /needs an approval/);
    const [pending] = await store.pendingApprovals();
    await agent.decide(pending?.approvalId ?? '', true, 'owner');
    assert.equal((await called('sendMessage')).body['text'], 'told: x is 1', 'the sentence comes once');
    await channel.stop();
    assert.deepEqual((await store.channelState('telegram'))['pending'], []);
  });

  test('one process at a time listens', async () => {
    const [mine, others] = [await telegram(), await telegram()];
    const one = await testAgent();
    const claims = new EventEmitter();
    const claim: typeof one.store.claim = async (...asked) => {
      const work = await one.store.claim(...asked);
      claims.emit('answered', work);
      return work;
    };
    const two = await testAgent({ store: { ...one.store, claim } });
    const first = createChannel('telegram', deps(one.agent, mine.url));
    const second = createChannel('telegram', deps(two.agent, others.url));
    await first.start();
    await mine.called('getUpdates');
    const answered = once(claims, 'answered');
    await second.start();
    assert.deepEqual(await answered, [undefined], 'it is not its turn');
    await mine.called('getUpdates');
    assert.deepEqual(others.sent, []);
    await first.stop();
    await second.stop();
  });

  test('a refused token ends the channel with an entry in the log', async () => {
    const { url } = await standIn(() => ({ status: 401, body: { ok: false, description: 'Unauthorized' } }));
    const { agent, store } = await testAgent();
    const channel = createChannel('telegram', deps(agent, url));
    await channel.start();
    while ((await store.logs({ limit: 5, level: 'error' })).total === 0)
      await new Promise((resolve) => setTimeout(resolve, 10));
    await channel.stop();
    assert.match(
      (await store.logs({ limit: 1, level: 'error' })).logs[0]?.message ?? '',
      /refused the channel’s token/,
    );
  });
});

describe('WhatsApp', () => {
  const incoming = (id: string, text: string): string => {
    const messages = [{ id, from: '4912345', type: 'text', text: { body: text } }];
    const value = { messaging_product: 'whatsapp', metadata: { phone_number_id: '111' }, messages };
    const entry = [{ id: 'x', changes: [{ field: 'messages', value }] }];
    return JSON.stringify({ object: 'whatsapp_business_account', entry });
  };

  test('the webhook is verified by its secret; messages are answered from the number they came in at', async () => {
    const { url, called } = await standIn(() => ({ messages: [{ id: 'out' }] }));
    const { agent } = await testAgent({ script: (request) => `heard ${lastText(request)}` });
    const channel = createChannel('whatsapp', deps(agent, url));
    await channel.start();
    const base = await webhookOf(channel);
    const secret = whatsAppSecret('T0KEN');
    const hook = `${base}/channels/whatsapp/${secret}`;
    const verify = await fetch(`${hook}?hub.mode=subscribe&hub.verify_token=${secret}&hub.challenge=42`);
    assert.equal(await verify.text(), '42');
    assert.equal((await fetch(`${hook}?hub.mode=subscribe&hub.verify_token=wrong&hub.challenge=42`)).status, 403);
    assert.equal((await fetch(`${base}/channels/whatsapp/wrong`, { method: 'POST', body: '{}' })).status, 404);
    assert.equal((await fetch(hook, { method: 'POST', body: '{"no":1}' })).status, 400);

    const body = incoming('wamid.1', 'hi');
    assert.equal((await fetch(hook, { method: 'POST', body })).status, 200);
    const sent = await called('/111/messages');
    assert.equal(sent.headers.authorization, 'Bearer T0KEN');
    assert.deepEqual([sent.body['to'], sent.body['text']], ['4912345', { body: 'heard hi' }]);
    await channel.stop();
  });

  test('two processes that are called at once lose nothing of each other', async () => {
    const { url, called } = await standIn(() => ({ messages: [{ id: 'out' }] }));
    const gate = Promise.withResolvers<string>();
    const one = await testAgent({ script: () => gate.promise });
    const two = await testAgent({ script: () => gate.promise, store: one.store });
    const channels = [one, two].map(({ agent }) => createChannel('whatsapp', deps(agent, url)));
    for (const channel of channels) await channel.start();
    const hooks = await Promise.all(
      channels.map(async (channel) => `${await webhookOf(channel)}/channels/whatsapp/${whatsAppSecret('T0KEN')}`),
    );
    await Promise.all(
      hooks.map((hook, index) => fetch(hook, { method: 'POST', body: incoming(`wamid.${index}`, 'hi') })),
    );
    const pending = async () => (await one.store.channelState('whatsapp'))['pending'] as { id: string }[];
    assert.deepEqual((await pending()).map(({ id }) => id).toSorted(), ['wamid.0', 'wamid.1']);
    gate.resolve('both heard');
    for (let answers = 0; answers < 2; answers++)
      assert.deepEqual((await called('/111/messages')).body['text'], { body: 'both heard' });
    for (const channel of channels) await channel.stop();
    assert.deepEqual(await pending(), []);
  });
});

describe('Discord', () => {
  test('identifies, keeps the heartbeat, answers mentions and direct messages, and resumes where it was', async () => {
    const events = new EventEmitter();
    const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    after(() => sockets.close());
    await once(sockets, 'listening');
    const gatewayUrl = `ws://127.0.0.1:${(sockets.address() as AddressInfo).port}`;
    sockets.on('connection', (socket) => {
      socket.send(JSON.stringify({ op: 10, d: { heartbeat_interval: 50 } }));
      socket.on('message', (data: Buffer) => {
        const { op, d } = JSON.parse(data.toString()) as { op: number; d: { token: string; seq: number } };
        if (op === 1) socket.send(JSON.stringify({ op: 11 }));
        if (op === 2) {
          const ready = { session_id: 's1', resume_gateway_url: gatewayUrl, user: { id: '99' } };
          socket.send(JSON.stringify({ op: 0, s: 1, t: 'READY', d: ready }));
        }
        events.emit(`op${op}`, d, socket);
      });
    });
    const { url, called } = await standIn(({ path }) => (path === '/gateway/bot' ? { url: gatewayUrl } : { id: '1' }));
    const { agent } = await testAgent({ script: (request) => `heard ${lastText(request)}` });
    const channel = createChannel('discord', deps(agent, url));
    const identified = once(events, 'op2');
    await channel.start();
    const [identify, socket] = (await identified) as [{ token: string }, WebSocket];
    assert.equal(identify.token, 'T0KEN');
    await once(events, 'op1');

    const message = (s: number, d: object) =>
      JSON.stringify({ op: 0, s, t: 'MESSAGE_CREATE', d: { author: { id: '5' }, channel_id: '7', ...d } });
    socket.send(message(2, { id: 'a', guild_id: 'g', content: 'not for us' }));
    socket.send(message(3, { id: 'b', content: 'from a bot', author: { id: '6', bot: true } }));
    socket.send(message(4, { id: 'c', guild_id: 'g', content: '<@99> hello', mentions: [{ id: '99' }] }));
    const answer = await called('/channels/7/messages');
    assert.equal(answer.body['content'], 'heard hello');
    assert.equal(answer.headers.authorization, 'Bot T0KEN');

    const resumed = once(events, 'op6');
    socket.send(JSON.stringify({ op: 7 }));
    const [resume, second] = (await resumed) as [{ seq: number }, WebSocket];
    assert.equal(resume.seq, 4);
    second.send(message(5, { id: 'd', content: 'direct' }));
    assert.equal((await called('/channels/7/messages')).body['content'], 'heard direct');
    await channel.stop();
  });
});
