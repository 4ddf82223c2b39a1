import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { WebSocketServer, type WebSocket } from 'ws';
import { createChannel } from './channels.ts';
import { depsFor, standIn, testAgent, until } from './testing.ts';

/** Discord's gateway as far as it is documented: hello, heartbeats, identify or resume, dispatches, close codes. */
async function gateway(onIdentify: (socket: WebSocket, ready: () => void) => void = (_, ready) => ready()) {
  const events = new EventEmitter();
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  after(() => sockets.close());
  await once(sockets, 'listening');
  const url = `ws://127.0.0.1:${(sockets.address() as AddressInfo).port}`;
  sockets.on('connection', (socket) => {
    socket.send(JSON.stringify({ op: 10, d: { heartbeat_interval: 50 } }));
    socket.on('message', (data: Buffer) => {
      const { op, d } = JSON.parse(data.toString()) as { op: number; d: { token: string; seq: number } };
      if (op === 1) socket.send(JSON.stringify({ op: 11 }));
      const ready = { session_id: 's1', resume_gateway_url: url, user: { id: '99' } };
      if (op === 2) onIdentify(socket, () => socket.send(JSON.stringify({ op: 0, s: 1, t: 'READY', d: ready })));
      events.emit(`op${op}`, d, socket);
    });
  });
  return { url, events };
}

const message = (s: number, d: object) =>
  JSON.stringify({ op: 0, s, t: 'MESSAGE_CREATE', d: { author: { id: '5' }, channel_id: '7', content: '', ...d } });

describe('Discord', () => {
  test('identifies, keeps the heartbeat, answers mentions and direct messages, and resumes where it was', async () => {
    const { url: gatewayUrl, events } = await gateway();
    const { url, called } = await standIn(({ path }) => {
      if (path === '/gateway/bot') return { url: gatewayUrl };
      return path.startsWith('/cdn') ? { body: Buffer.from('some notes') } : { id: '1' };
    });
    const { agent } = await testAgent();
    const channel = await createChannel(
      'discord',
      depsFor(agent, url, { token: 'T0KEN' }, { publicUrl: 'https://t.example' }),
    );
    const identified = once(events, 'op2');
    await channel.start();
    const [identify, socket] = (await identified) as [{ token: string }, WebSocket];
    assert.equal(identify.token, 'T0KEN');
    await once(events, 'op1');

    socket.send(message(2, { id: 'a', guild_id: 'g', content: 'not for us' }));
    socket.send(message(3, { id: 'b', content: 'from a bot', author: { id: '6', bot: true } }));
    socket.send(message(4, { id: 'c', guild_id: 'g', content: '<@99> hello', mentions: [{ id: '99' }] }));
    const answer = await called('/channels/7/messages');
    assert.equal(answer.body['content'], 'heard hello');
    assert.equal(answer.headers.authorization, 'Bot T0KEN');
    assert.match(answer.headers['user-agent'] ?? '', /^DiscordBot \(https:\/\/t\.example, \d+\.\d+\.\d+\)$/);
    assert.equal(answer.body['enforce_nonce'], true);
    assert.ok(String(answer.body['nonce']).length <= 25);

    const resumed = once(events, 'op6');
    socket.send(JSON.stringify({ op: 7 }));
    const [resume, second] = (await resumed) as [{ seq: number }, WebSocket];
    assert.equal(resume.seq, 4);
    const attachments = [{ filename: 'notes.txt', url: `${url}/cdn/notes.txt`, size: 10 }];
    second.send(message(5, { id: 'd', attachments }));
    assert.match(String((await called('/channels/7/messages')).body['content']), /uploads\/notes\.txt[^]*some notes/);
    await channel.stop();
  });

  test('a trial tells whether messages may be read, before anything listens', async () => {
    let flags = 1 << 23;
    const { url, called } = await standIn(({ path }) => {
      if (path === '/applications/@me') return { id: '1', flags };
      return path === '/users/@me' ? { id: '99', username: 'ada' } : { id: '1' };
    });
    const { agent } = await testAgent();
    const channel = await createChannel('discord', depsFor(agent, url, { token: 'T0KEN' }));
    await assert.rejects(channel.test(), /Message Content Intent/);
    for (const may of [1 << 18, 1 << 19]) {
      flags = may | (1 << 23);
      assert.equal(await channel.test('7'), 'ada');
      assert.match(String((await called('/channels/7/messages')).body['content']), /test message/);
    }
  });

  const closes: [code: number, state: string, told: RegExp][] = [
    [4014, 'failed', /Message Content Intent/],
    [4004, 'refused', /refused the token/],
  ];
  for (const [code, state, told] of closes)
    test(`close code ${code} is told as what it is`, async () => {
      const { url: gatewayUrl } = await gateway((socket) => socket.close(code));
      const { url } = await standIn(() => ({ url: gatewayUrl }));
      const { agent, store } = await testAgent();
      const channel = await createChannel('discord', depsFor(agent, url, { token: 'T0KEN' }));
      await channel.start();
      const status = await until(
        async () => (await store.channelState('discord'))['status'] as { state: string; error: string } | undefined,
      );
      assert.equal(status.state, state);
      assert.match(status.error, told);
      await channel.stop();
    });
});
