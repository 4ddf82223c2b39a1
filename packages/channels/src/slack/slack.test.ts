import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { WebSocketServer, type WebSocket } from 'ws';
import type { ChannelDeps } from '../channel.ts';
import { createChannel } from '../channels.ts';
import { depsFor, standIn, testAgent, until, webhookOf } from '../testing.ts';
import { slackSecret } from './slack.ts';

const SIGNING = 'signing-secret';
const SELF = {
  ok: true,
  url: 'https://t.slack.com/',
  team: 'T',
  user: 'ada',
  team_id: 'T1',
  user_id: 'U99',
  bot_id: 'B1',
};

/** Slack's Web API and Socket Mode as they are documented. */
async function slack() {
  const events = new EventEmitter();
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  after(() => sockets.close());
  await once(sockets, 'listening');
  sockets.on('connection', (socket) => {
    socket.send(JSON.stringify({ type: 'hello', num_connections: 1, connection_info: { app_id: 'A1' } }));
    socket.on('message', (data: Buffer) => events.emit('ack', JSON.parse(data.toString())));
    events.emit('connection', socket);
  });
  const wss = `ws://127.0.0.1:${(sockets.address() as AddressInfo).port}/link/?ticket=1`;
  const service = await standIn(({ path, headers, body }) => {
    if (path === '/auth.test')
      return headers.authorization === 'Bearer xoxb-1' ? SELF : { ok: false, error: 'invalid_auth' };
    if (path === '/apps.connections.open')
      return headers.authorization === 'Bearer xapp-1'
        ? { ok: true, url: wss }
        : { ok: false, error: 'not_allowed_token_type' };
    if (path === '/files.getUploadURLExternal')
      return { ok: true, upload_url: `${service.url}/upload/v1/x`, file_id: `F${String(body['length'])}` };
    if (path.startsWith('/files-pri/')) return { body: Buffer.from('a,b\n1,2') };
    return { ok: true, ts: '2.0' };
  });
  return { ...service, events };
}

const make = (agent: ChannelDeps['agent'], url: string, settings = {}, more: Partial<ChannelDeps> = {}) =>
  createChannel('slack', depsFor(agent, url, { botToken: 'xoxb-1', ...settings }, more));

const mention = (ts: string, text: string, more = {}) => ({
  type: 'app_mention',
  user: 'U1',
  channel: 'C1',
  ts,
  text,
  ...more,
});

describe('Slack by Socket Mode', () => {
  test('mentions are answered in their thread, direct messages in theirs; each event is acknowledged', async () => {
    const { url, events, called, sent } = await slack();
    const { agent, store } = await testAgent();
    const channel = await make(agent, url, { appToken: 'xapp-1' });
    const connected = once(events, 'connection');
    await channel.start();
    const [socket] = (await connected) as [WebSocket];
    const acks: string[] = [];
    events.on('ack', ({ envelope_id: id }: { envelope_id: string }) => acks.push(id));
    const tell = (id: string, event: object, retry = 0) =>
      socket.send(
        JSON.stringify({
          envelope_id: id,
          type: 'events_api',
          accepts_response_payload: false,
          retry_attempt: retry,
          payload: { type: 'event_callback', event_id: `Ev${id}`, team_id: 'T1', event },
        }),
      );
    tell('1', mention('1.1', '<@U99> 2 &lt; 3?'));
    const { body, headers } = await called('/chat.postMessage');
    assert.deepEqual([body['channel'], body['thread_ts'], body['text']], ['C1', '1.1', 'heard 2 &lt; 3?']);
    assert.equal(headers.authorization, 'Bearer xoxb-1');

    // The same message once more as the other event, and as a retry: it counts once.
    tell('2', { ...mention('1.1', '<@U99> 2 &lt; 3?'), type: 'message', channel_type: 'channel' });
    tell('3', mention('1.1', '<@U99> 2 &lt; 3?'), 1);
    tell('4', { type: 'message', channel: 'C1', channel_type: 'channel', user: 'U1', ts: '1.2', text: 'not for us' });
    tell('5', { type: 'message', channel: 'D1', channel_type: 'im', user: 'U99', ts: '1.3', text: 'our own' });
    tell('6', {
      type: 'message',
      channel: 'D1',
      channel_type: 'im',
      user: 'U2',
      bot_id: 'B7',
      ts: '1.4',
      text: 'a bot',
    });
    tell('7', mention('1.5', '<@U99> again', { thread_ts: '1.1' }));
    tell('8', { type: 'message', channel: 'D1', channel_type: 'im', user: 'U1', ts: '1.6', text: 'direct' });
    const two = [await called('/chat.postMessage'), await called('/chat.postMessage')].map(({ body: one }) => one);
    assert.deepEqual(two.map((one) => [one['channel'], one['thread_ts'], one['text']].join(' ')).toSorted(), [
      'C1 1.1 heard again',
      'D1  heard direct',
    ]);
    await until(async () => acks.length === 8);
    assert.deepEqual(acks, ['1', '2', '3', '4', '5', '6', '7', '8']);
    await until(async () => (await store.receipts({ limit: 9 })).every(({ state }) => state === 'answered'));
    assert.equal((await store.receipts({ limit: 9 })).length, 3);
    assert.ok(
      sent.every(({ path }) => path !== '/chat.postMessage'),
      'nothing was answered twice',
    );

    const again = once(events, 'connection');
    socket.send(JSON.stringify({ type: 'disconnect', reason: 'refresh_requested' }));
    await again;
    await channel.stop();
    const keys = (await store.sessions({ limit: 9, offset: 0 })).map(({ key }) => key);
    assert.deepEqual(keys.filter((key) => key !== 'listener').toSorted(), ['C1:1.1', 'D1']);
  });

  test('files come in with the token, which goes to nobody else, and go out', async () => {
    const { url, events, called, sent } = await slack();
    const others = await standIn(() => ({ body: Buffer.from('stolen') }));
    const { agent, files } = await testAgent({
      script: (said) => (said.includes('table') ? `${said} ![chart](out/chart.png)` : said),
    });
    await files.write('out/chart.png', 'picture');
    const channel = await make(agent, url, { appToken: 'xapp-1' });
    const connected = once(events, 'connection');
    await channel.start();
    const [socket] = (await connected) as [WebSocket];
    const file = (at: string) => ({
      id: 'F1',
      name: 'table.csv',
      size: 7,
      url_private_download: `${at}/files-pri/table.csv`,
    });
    const tell = (ts: string, at: string) => {
      const event = {
        type: 'message',
        subtype: 'file_share',
        channel: 'D1',
        channel_type: 'im',
        user: 'U1',
        ts,
        text: 'see',
        files: [file(at)],
      };
      socket.send(JSON.stringify({ envelope_id: ts, type: 'events_api', payload: { event } }));
    };
    tell('1.1', url);
    const download = await called('/files-pri/table.csv');
    assert.equal(download.headers.authorization, 'Bearer xoxb-1');
    assert.match(String((await called('/chat.postMessage')).body['text']), /see[^]*uploads\/table\.csv[^]*a,b/);
    assert.deepEqual((await called('/files.getUploadURLExternal')).body, { filename: 'chart.png', length: '7' });
    assert.equal((await called('/upload/v1/x')).raw.toString(), 'picture');
    const done = (await called('/files.completeUploadExternal')).body;
    assert.deepEqual(
      [done['channel_id'], JSON.parse(String(done['files']))],
      ['D1', [{ id: 'F7', title: 'chart.png' }]],
    );

    tell('1.2', others.url);
    assert.match(String((await called('/chat.postMessage')).body['text']), /is not here: it is not at Slack/);
    // An address that only begins as Slack's does.
    tell('1.3', `${url}@${new URL(others.url).host}/x`);
    assert.match(String((await called('/chat.postMessage')).body['text']), /is not here: it is not at Slack/);
    assert.deepEqual(others.sent, []);
    await channel.stop();
    assert.ok(sent.length >= 0);
  });

  test('a wrong token and Socket Mode switched off are told', async () => {
    const { url, events } = await slack();
    const { agent, store } = await testAgent();
    const status = () =>
      until(async () => (await store.channelState('slack'))['status'] as { state: string; error?: string } | undefined);
    const wrong = await make(agent, url, { appToken: 'xapp-2' });
    await wrong.start();
    assert.match((await status()).error ?? '', /refused the token \(not_allowed_token_type\)/);
    await wrong.stop();
    await assert.rejects(wrong.test(), { name: 'TokenRefused' });

    await store.changeChannelState('slack', () => ({}));
    events.on('connection', (socket: WebSocket) =>
      socket.send(JSON.stringify({ type: 'disconnect', reason: 'link_disabled' })),
    );
    const off = await make(agent, url, { appToken: 'xapp-1' });
    await off.start();
    await until(async () => (await status()).error?.includes('Socket Mode is switched off'));
    await off.stop();
  });
});

describe('Slack by the Events API', () => {
  const signed = (
    body: string,
    at = Math.floor(Date.now() / 1000),
    secret = SIGNING,
    more: Record<string, string> = {},
  ) => ({
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-slack-request-timestamp': String(at),
      'x-slack-signature': `v0=${createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex')}`,
      ...more,
    },
  });

  test('requests that Slack signed just now are taken, once, and no others', async () => {
    const { url, called, sent } = await slack();
    const { agent, store } = await testAgent();
    const channel = await make(agent, url, { signingSecret: SIGNING });
    await channel.start();
    const base = await webhookOf(channel);
    const hook = `${base}/channels/slack/${slackSecret('xoxb-1')}`;
    const challenge = await fetch(
      hook,
      signed(JSON.stringify({ type: 'url_verification', token: 'x', challenge: 'c1' })),
    );
    assert.equal(await challenge.text(), 'c1');

    const body = JSON.stringify({ type: 'event_callback', event_id: 'Ev1', event: mention('1.1', '<@U99> hello') });
    const now = Math.floor(Date.now() / 1000);
    const refused: [string, object][] = [
      ['no signature', { method: 'POST', body }],
      ['another secret', signed(body, now, 'other')],
      ['a replay of six minutes ago', signed(body, now - 360)],
      ['a time to come', signed(body, now + 360)],
      ['another body', { ...signed(body), body: body.replace('hello', 'hullo') }],
    ];
    for (const [what, request] of refused) assert.equal((await fetch(hook, request)).status, 401, what);
    assert.equal((await fetch(hook)).status, 405);
    assert.equal((await fetch(hook, signed('[]'))).status, 400);
    assert.equal((await fetch(`${base}/channels/slack/wrong`, signed(body))).status, 404);
    assert.deepEqual(await store.receipts({ limit: 9 }), []);

    const tries = ['1', '2', '3'].map((number) =>
      fetch(hook, signed(body, now, SIGNING, { 'x-slack-retry-num': number, 'x-slack-retry-reason': 'http_timeout' })),
    );
    for (const one of await Promise.all(tries)) assert.equal(one.status, 200);
    assert.equal((await called('/chat.postMessage')).body['text'], 'heard hello');
    await channel.stop();
    assert.ok(sent.every(({ path }) => path !== '/chat.postMessage'));
  });

  test('where Slack asks to wait it is waited, and words never call a whole channel', async () => {
    let busy = 1;
    const service = await standIn(({ path }) => {
      if (path === '/auth.test') return SELF;
      return busy-- > 0
        ? { status: 429, body: { ok: false, error: 'ratelimited' }, headers: { 'retry-after': '1' } }
        : { ok: true };
    });
    const { agent, store } = await testAgent({ script: () => '<!channel> done' });
    const channel = await make(agent, service.url, { signingSecret: SIGNING }, { holdMs: 300 });
    await channel.start();
    const hook = `${await webhookOf(channel)}/channels/slack/${slackSecret('xoxb-1')}`;
    await fetch(hook, signed(JSON.stringify({ type: 'event_callback', event: mention('1.1', '<@U99> go') })));
    await service.called('/chat.postMessage');
    assert.equal((await service.called('/chat.postMessage')).body['text'], '&lt;!channel&gt; done');
    await until(async () => (await store.receipts({ limit: 1 }))[0]?.state === 'answered');
    await channel.stop();
  });
});
