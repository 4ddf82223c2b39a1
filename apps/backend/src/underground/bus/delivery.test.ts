import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { busDeliveryJob, type BusMessage } from '@troupe/contract';
import { createOutbound } from '@troupe/kernel';
import { createParties, until } from '../bus-testing.ts';
import { startUnderground } from '../testing.ts';

const hanging: number[] = [];
let failures = 0;
/** The runtime never answers. */
let hangs = false;

/** A webhook's server; the public name leads to it, everything else to what the guarded client makes of it. */
const received: { path?: string; headers: Record<string, unknown>; body: BusMessage }[] = [];
let answer: { status: number; headers?: Record<string, string> } = { status: 200 };
const hook = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk: Buffer) => (text += chunk.toString()));
  request.on('end', () => {
    received.push({ path: request.url, headers: request.headers, body: JSON.parse(text) as BusMessage });
    response.writeHead(answer.status, answer.headers).end();
  });
}).listen(0, '127.0.0.1');
await once(hook, 'listening');
const { port } = hook.address() as AddressInfo;
const local = createOutbound({ allowLoopback: true });
const guarded = createOutbound();

const world = await startUnderground({
  retries: 1,
  async deliver(_agent, _message, signal) {
    if (hangs) await once(signal, 'abort');
    if (failures === 0) return;
    failures -= 1;
    throw new Error('the runtime is busy');
  },
  outbound: {
    connect: guarded.connect,
    fetch: async (url, request) => {
      // A server that takes the connection and never answers, until the caller gives up.
      if (String(url).startsWith('https://hang.example/')) {
        hanging.push(request?.timeout ?? Infinity);
        await once(request!.signal!, 'abort');
      }
      return String(url).startsWith('https://hook.example/')
        ? local.fetch(`http://127.0.0.1:${port}/`, request)
        : guarded.fetch(url, request);
    },
    close: async () => {
      await local.close();
      await guarded.close();
    },
  },
});
const { party, signed, send, logOf, ended } = createParties(world);
after(async () => {
  await world.stop();
  hook.close();
});

describe('delivery', () => {
  const webhookUrl = 'https://hook.example/bus';

  test('to the webhook of the recipient, with the protocol’s version', async () => {
    const [from, to] = [await party(), await party({ config: { webhookUrl } })];
    const message = await signed(from, to, 'HELLO', { x: [1, 2] });
    await send(message);
    assert.equal((await ended(from, message.messageId)).status, 'delivered');
    const last = received.at(-1)!;
    assert.equal(last.headers['x-agent-protocol-version'], '1.0');
    assert.deepEqual(last.body, { ...message, metadata: {} });
  });

  test('a redirect is not followed, and the failure is reported to the sender', async () => {
    const before = received.length;
    answer = { status: 302, headers: { location: `http://127.0.0.1:${port}/private` } };
    const [from, to] = [await party(), await party({ config: { webhookUrl } })];
    const message = await signed(from, to, 'HELLO', {});
    await send(message);
    const { status, error, attempts } = await ended(from, message.messageId);
    answer = { status: 200 };
    assert.deepEqual([status, error, attempts], ['failed', 'Webhook answered 302', 2]);
    assert.deepEqual(
      received.slice(before).map(({ path }) => path),
      ['/', '/'],
    );
    const notices = await world.runtime.db
      .user(from.person.id)
      .selectFrom('notices')
      .select(['kind', 'message'])
      .execute();
    assert.equal(notices.length, 1);
    assert.match(notices[0]!.message, /could not be delivered: Webhook answered 302/);
  });

  test('private addresses and plain http are refused, at once', async () => {
    const before = received.length;
    for (const [url, why] of [
      [`https://127.0.0.1:${port}/`, 'Target address not allowed'],
      ['https://localhost/', 'Target address not allowed'],
      ['https://10.1.2.3/', 'Target address not allowed'],
      ['https://169.254.169.254/latest', 'Target address not allowed'],
      ['https://[::1]/', 'Target address not allowed'],
      [`http://127.0.0.1:${port}/`, 'Webhook must be an https address'],
      ['file:///etc/passwd', 'Webhook must be an https address'],
      ['https://', 'Invalid URL'],
    ]) {
      const [from, to] = [await party(), await party({ config: { webhookUrl: url } })];
      const message = await signed(from, to, 'HELLO', {});
      await send(message);
      const { status, error, attempts } = await ended(from, message.messageId);
      assert.deepEqual([status, error, attempts], ['failed', why, 1], url);
    }
    assert.equal(received.length, before);
  });

  test('whoever dies at the last try leaves a message that is reported, not one that waits for ever', async () => {
    const [from, to] = [await party(), await party()];
    const message = await signed(from, to, 'HELLO', {});
    hangs = true;
    await send(message);
    // Two tries are all; nobody comes back from either, and the queue hands the message on.
    for (const attempts of [1, 2]) {
      await until(
        async () => ((await logOf(from, message.messageId)).attempts === attempts ? true : undefined),
        'a try',
      );
      const { id } = await logOf(from, message.messageId);
      await world.runtime.jobs.send(world.runtime.db.system, busDeliveryJob, { id });
    }
    const { status, error } = await ended(from, message.messageId);
    hangs = false;
    assert.deepEqual([status, error], ['failed', 'Delivery was interrupted']);
    const notices = await world.runtime.db.user(from.person.id).selectFrom('notices').select('message').execute();
    assert.match(notices[0]!.message, /could not be delivered: Delivery was interrupted/);
  });

  test('a webhook that hangs holds up its owner’s deliveries, two at a time, and nobody else’s', async () => {
    const greedy = await world.person();
    const from = await party({ person: greedy });
    const stuck = await party({ person: greedy, config: { webhookUrl: 'https://hang.example/bus' } });
    for (let n = 0; n < 20; n += 1) assert.equal((await send(await signed(from, stuck, 'HELLO', {}))).status, 200);
    await until(() => (hanging.length >= 2 ? true : undefined), 'the webhook is asked');
    const [ada, ben] = [await party(), await party()];
    const message = await signed(ada, ben, 'HELLO', {});
    await send(message);
    assert.equal((await ended(ada, message.messageId)).status, 'delivered');
    assert.deepEqual(hanging, [5_000, 5_000]);
  });

  test('is tried again when the runtime fails', async () => {
    const [from, to] = [await party(), await party()];
    failures = 1;
    const message = await signed(from, to, 'HELLO', {});
    await send(message);
    const { status, attempts, error } = await ended(from, message.messageId);
    assert.deepEqual([status, attempts, error], ['delivered', 2, null]);
  });
});
