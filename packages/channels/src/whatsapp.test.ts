import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, test } from 'node:test';
import type { ChannelDeps } from './channel.ts';
import { createChannel } from './channels.ts';
import { depsFor, standIn, testAgent, until, webhookOf } from './testing.ts';
import { whatsAppSecret } from './whatsapp.ts';

const SECRET = 'app-secret';
const incoming = (id: string, message: object): string => {
  const messages = [{ id, from: '4912345', timestamp: String(Math.floor(Date.now() / 1000)), ...message }];
  const value = { messaging_product: 'whatsapp', metadata: { phone_number_id: '111' }, messages };
  return JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: 'x', changes: [{ field: 'messages', value }] }],
  });
};
const text = (said: string) => ({ type: 'text', text: { body: said } });
const signed = (body: string, secret = SECRET) => ({
  method: 'POST',
  body,
  headers: {
    'content-type': 'application/json',
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  },
});
const make = (agent: ChannelDeps['agent'], url: string) =>
  createChannel('whatsapp', depsFor(agent, url, { token: 'T0KEN', appSecret: SECRET }));

describe('WhatsApp', () => {
  test('the webhook is verified by its secret, what comes by its signature; answers go out from that number', async () => {
    const { url, called } = await standIn(() => ({ messages: [{ id: 'out' }] }));
    const { agent, model } = await testAgent();
    const channel = await make(agent, url);
    await channel.start();
    const base = await webhookOf(channel);
    const secret = whatsAppSecret('T0KEN');
    const hook = `${base}/channels/whatsapp/${secret}`;
    const verify = await fetch(`${hook}?hub.mode=subscribe&hub.verify_token=${secret}&hub.challenge=42`);
    assert.equal(await verify.text(), '42');
    assert.equal((await fetch(`${hook}?hub.mode=subscribe&hub.verify_token=wrong&hub.challenge=42`)).status, 403);
    assert.equal((await fetch(`${base}/channels/whatsapp/wrong`, signed('{}'))).status, 404);
    assert.equal((await fetch(hook, signed('{"no":1}'))).status, 400);

    const body = incoming('wamid.1', text('hi'));
    assert.equal((await fetch(hook, { method: 'POST', body })).status, 401, 'without a signature');
    assert.equal((await fetch(hook, signed(body, 'other'))).status, 401, 'signed by another');
    assert.equal((await fetch(hook, { ...signed(body), body: `${body} ` })).status, 401, 'changed on its way');
    for (let tries = 0; tries < 3; tries++) assert.equal((await fetch(hook, signed(body))).status, 200);
    const sent = await called('/111/messages');
    assert.equal(sent.headers.authorization, 'Bearer T0KEN');
    assert.deepEqual([sent.body['to'], sent.body['text']], ['4912345', { body: 'heard hi' }]);
    await channel.stop();
    assert.equal(model.requests.length, 1, 'a message that Meta sends again counts once');
  });

  test('pictures and documents come as attachments; a replay of last month does not come', async () => {
    const { url, called } = await standIn(({ path }) => {
      if (path === '/m1') return { url: `${url}/media/m1`, mime_type: 'application/pdf' };
      if (path === '/media/m1') return { body: Buffer.from('a bill') };
      return {};
    });
    const { agent, store } = await testAgent();
    const channel = await make(agent, url);
    await channel.start();
    const hook = `${await webhookOf(channel)}/channels/whatsapp/${whatsAppSecret('T0KEN')}`;
    const old = String(Math.floor(Date.now() / 1000) - 30 * 86_400);
    await fetch(hook, signed(incoming('wamid.old', { ...text('again'), timestamp: old })));
    const document = { id: 'm1', filename: 'bill.txt', caption: 'please pay' };
    await fetch(hook, signed(incoming('wamid.2', { type: 'document', document })));
    const said = (await called('/111/messages')).body['text'] as { body: string };
    assert.match(said.body, /please pay[^]*uploads\/bill\.txt[^]*a bill/);
    assert.equal((await called('/media/m1')).headers.authorization, 'Bearer T0KEN');
    await channel.stop();
    assert.deepEqual(
      (await store.receipts({ limit: 9 })).map(({ id }) => id),
      ['wamid.2'],
    );
  });

  test('a message of another shape costs nothing but itself, and the owner sees it', async () => {
    const { url, called } = await standIn(() => ({ messages: [{ id: 'out' }] }));
    const { agent, store } = await testAgent();
    const channel = await make(agent, url);
    await channel.start();
    const hook = `${await webhookOf(channel)}/channels/whatsapp/${whatsAppSecret('T0KEN')}`;
    const { entry } = JSON.parse(incoming('wamid.3', text('hi'))) as { entry: { changes: { value: object }[] }[] };
    const { value } = entry[0]!.changes[0]! as { value: { messages: object[] } };
    value.messages.unshift({ id: 'wamid.odd', from: '49777', type: 'text', text: 'words' }, { type: 'text' }, {});
    const body = JSON.stringify({ entry: ['odd', { changes: [7, { value: { messages: 'odd' } }] }, ...entry] });
    assert.equal((await fetch(hook, signed(body))).status, 200);
    assert.deepEqual((await called('/111/messages')).body['text'], { body: 'heard hi' });
    await channel.stop();
    const receipts = await store.receipts({ limit: 9 });
    const unknown = receipts.filter(({ state }) => state === 'ignored');
    assert.deepEqual(unknown.map(({ sender }) => sender).toSorted(), ['49777', 'unknown']);
    assert.ok(unknown.every(({ note }) => note?.includes('a shape that is not known')));
  });

  test('two processes that are called at once, with the same and with others, answer each message once', async () => {
    const { url, called, sent } = await standIn(() => ({ messages: [{ id: 'out' }] }));
    const one = await testAgent();
    const two = await testAgent({ store: one.store });
    const channels = await Promise.all([one, two].map(({ agent }) => make(agent, url)));
    for (const channel of channels) await channel.start();
    const path = `/channels/whatsapp/${whatsAppSecret('T0KEN')}`;
    const hooks = await Promise.all(channels.map(async (channel) => (await webhookOf(channel)) + path));
    const bodies = Array.from({ length: 6 }, (_, index) => incoming(`wamid.${index % 3}`, text(`hi ${index % 3}`)));
    await Promise.all(bodies.map((body, index) => fetch(hooks[index % 2]!, signed(body))));
    await until(async () => {
      const receipts = await one.store.receipts({ limit: 9 });
      return receipts.length === 3 && receipts.every(({ state }) => state === 'answered');
    });
    for (const channel of channels) await channel.stop();
    await called('/111/messages');
    const answers = sent.filter(({ path: to }) => to.includes('/111/messages')).map(({ body }) => JSON.stringify(body));
    assert.equal(new Set(answers).size, answers.length, answers.join());
  });
});
