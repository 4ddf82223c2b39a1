import assert from 'node:assert/strict';
import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { startWeb, type Person, type TestWeb } from '@troupe/testing/services/web';
import { sealFor } from './seal.ts';

interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** A browser's own side: what it gives away, and how it reads what comes. */
function newBrowser(base: string, name: string) {
  const ecdh = createECDH('prime256v1');
  const p256dh = ecdh.generateKeys();
  const auth = randomBytes(16);
  return {
    endpoint: `${base}/${name}`,
    keys: { p256dh: p256dh.toString('base64url'), auth: auth.toString('base64url') },
    raw: { p256dh, auth },
    /** As RFC 8291 says, written from the other end. */
    read(body: Buffer): string {
      const salt = body.subarray(0, 16);
      const keyLength = body.readUInt8(20);
      const sender = body.subarray(21, 21 + keyLength);
      const sealed = body.subarray(21 + keyLength);
      const hkdf = (secret: Buffer, with_: Buffer, info: Buffer, bytes: number) =>
        Buffer.from(hkdfSync('sha256', secret, with_, info, bytes));
      const info = Buffer.concat([Buffer.from('WebPush: info\0'), p256dh, sender]);
      const secret = hkdf(ecdh.computeSecret(sender), auth, info, 32);
      const key = hkdf(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
      const nonce = hkdf(secret, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
      const open = createDecipheriv('aes-128-gcm', key, nonce);
      open.setAuthTag(sealed.subarray(-16));
      const plain = Buffer.concat([open.update(sealed.subarray(0, -16)), open.final()]);
      assert.equal(plain.at(-1), 2, 'the last record ends so');
      return plain.subarray(0, -1).toString();
    },
  };
}

/** Throws unless the header is signed by the key that it names, for this origin. */
function checkVapid(header: string | undefined, origin: string, publicKey: string): void {
  const [, token = '', key = ''] = /^vapid t=([^,]+), k=(.+)$/.exec(header ?? '') ?? [];
  assert.equal(key, publicKey);
  const [head = '', claims = '', signature = ''] = token.split('.');
  const point = Buffer.from(key, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
  const verifier = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: x!, y: y! }, format: 'jwk' });
  const signed = Buffer.from(`${head}.${claims}`);
  const how = { key: verifier, dsaEncoding: 'ieee-p1363' } as const;
  assert.ok(verify('sha256', signed, how, Buffer.from(signature, 'base64url')));
  const { aud, exp, sub } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, string>;
  assert.equal(aud, origin);
  assert.ok(Number(exp) * 1000 < Date.now() + 86_400_000);
  assert.match(sub ?? '', /^(mailto|https):/);
}

describe('push', () => {
  let web: TestWeb;
  let ann: Person;
  const received: Received[] = [];
  const status: Record<string, number> = {};
  const service = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url ?? '';
      received.push({ path, headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(status[path] ?? 201).end();
    });
  });
  let base = '';

  before(async () => {
    service.listen(0, '127.0.0.1');
    await once(service, 'listening');
    base = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    web = await startWeb();
    ann = await web.signUp();
  });
  after(async () => {
    await web.stop();
    service.close();
  });

  const subscribe = ({ endpoint, keys }: { endpoint: string; keys: object }, person = ann) =>
    person.ask('POST', '/api/push/subscriptions', { endpoint, keys, name: 'Phone' });
  const until = async <T>(look: () => T | Promise<T>): Promise<NonNullable<T>> => {
    for (;;) {
      const found = await look();
      if (found) return found as NonNullable<T>;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const arrived = (path: string, count = 1): Promise<Received[]> =>
    until(() => {
      const found = received.filter((one) => one.path === path);
      return found.length >= count ? found : undefined;
    }) as Promise<Received[]>;
  const agent = async (id: string, name: string, person = ann) => {
    await web.deps.db.system.insertInto('agents').values({ id, user_id: person.id, name, status: 'running' }).execute();
    await web.deps.db.system
      .insertInto('agent_sessions')
      .values({ id: `s-${id}`, agent_id: id, user_id: person.id, channel: 'api', key: 'x' })
      .execute();
  };
  let seq = 0;
  const asks = (id: string, tool: string, person = ann) =>
    web.deps.db.system
      .insertInto('agent_events')
      .values({
        session_id: `s-${id}`,
        seq: (seq += 1),
        agent_id: id,
        user_id: person.id,
        data: JSON.stringify({ type: 'approval_requested', approvalId: `a${seq}`, tool, args: '{"secret":"x"}' }),
      })
      .execute();

  test('what waits reaches the browser, which alone can read it; only who and what kind is said', async () => {
    const browser = newBrowser(base, 'ann');
    const { publicKey, subscriptions } = (await ann.ask('GET', '/api/push')).body;
    assert.deepEqual(subscriptions, []);
    assert.equal((await subscribe(browser)).status, 201);
    await agent('scout', 'Scout');
    await asks('scout', 'write_file');
    const [{ headers, body }] = (await arrived('/ann')) as [Received];
    checkVapid(headers['authorization'], base, publicKey);
    assert.deepEqual([headers['content-encoding'], headers['ttl'], headers['urgency']], ['aes128gcm', '86400', 'high']);
    assert.match(String(headers['topic']), /^[\w-]{1,32}$/);
    assert.deepEqual(JSON.parse(browser.read(body)), {
      title: 'Scout',
      body: 'Waits for you: writing a file',
      url: `/dashboard/inbox?item=a${seq}`,
      tag: 'approval:scout',
    });
    const told = await until(async () => {
      const now = (await ann.ask('GET', '/api/push')).body;
      return now.subscriptions[0].toldAt && now;
    });
    assert.equal(told.publicKey, publicKey);
  });

  test('of tasks one is told that fails; one that goes well only to whoever asked for it', async () => {
    const browser = newBrowser(base, 'tasks');
    const bob = await web.signUp();
    await subscribe(browser, bob);
    const now = new Date();
    await web.deps.db.system
      .insertInto('scheduled_tasks')
      .values({
        id: 'task',
        user_id: bob.id,
        agent_id: 'none',
        name: 'Morning',
        cron_schedule: '* * * * *',
        prompt: 'x',
        created_at: now,
        updated_at: now,
      })
      .execute();
    const ran = (id: string, outcome: 'succeeded' | 'failed') =>
      web.deps.db.system
        .insertInto('task_runs')
        .values({ id, task_id: 'task', user_id: bob.id, due_at: new Date(seq++), status: outcome, started_at: now })
        .execute();
    await ran('r1', 'succeeded');
    await ran('r2', 'failed');
    const [first] = (await arrived('/tasks')) as [Received];
    assert.equal(JSON.parse(browser.read(first.body)).body, 'The task failed.');
    await bob.ask('PATCH', '/api/settings', { notifications: { push_task_failed: false, push_task_done: true } });
    assert.deepEqual((await bob.ask('GET', '/api/push')).body.kinds, {
      approval: true,
      payment: true,
      task_failed: false,
      task_done: true,
    });
    await ran('r3', 'failed');
    await ran('r4', 'succeeded');
    const [, second] = await arrived('/tasks', 2);
    assert.equal(JSON.parse(browser.read(second!.body)).body, 'The task is done.');
  });

  test('a browser that is gone is told nothing any more, one that is away is tried again', async () => {
    const eve = await web.signUp();
    const [gone, away] = [newBrowser(base, 'gone'), newBrowser(base, 'away')];
    await subscribe(gone, eve);
    await subscribe(away, eve);
    status['/gone'] = 410;
    status['/away'] = 503;
    assert.deepEqual((await eve.ask('POST', '/api/push/test')).body, { browsers: 2 });
    await arrived('/gone');
    await arrived('/away');
    status['/away'] = 201;
    await arrived('/away', 2);
    const left = await until(async () => {
      const { subscriptions } = (await eve.ask('GET', '/api/push')).body;
      return subscriptions.length === 1 && subscriptions[0].toldAt && subscriptions[0];
    });
    assert.equal(left.endpoint, away.endpoint);
    assert.equal(received.filter(({ path }) => path === '/gone').length, 1);
  });

  test('a browser is renewed, goes over to whoever uses it now, and is removed by its owner alone', async () => {
    const [kim, lee] = [await web.signUp(), await web.signUp()];
    const browser = newBrowser(base, 'shared');
    const { id } = (await subscribe(browser, kim)).body.subscription;
    assert.equal((await subscribe(browser, kim)).body.subscription.id, id);
    // Who knows the address alone takes nothing away.
    await subscribe({ ...newBrowser(base, 'shared') }, lee);
    assert.equal((await kim.ask('GET', '/api/push')).body.subscriptions.length, 1);
    assert.equal((await lee.ask('DELETE', `/api/push/subscriptions/${id}`)).status, 404);
    await subscribe(browser, lee);
    assert.equal((await kim.ask('GET', '/api/push')).body.subscriptions.length, 0);
    const [{ id: his }] = (await lee.ask('GET', '/api/push')).body.subscriptions;
    assert.equal((await lee.ask('DELETE', `/api/push/subscriptions/${his}`)).status, 200);
    assert.equal((await lee.ask('POST', '/api/push/test')).status, 404);
  });

  test('what is no subscription is refused, and so is one too many', async () => {
    const max = await web.signUp();
    const good = newBrowser(base, 'max');
    const notOnCurve = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]).toString('base64url');
    for (const [given, error] of [
      [{ ...good, endpoint: 'ftp://x' }, 'endpoint must be an address that begins with https://'],
      [{ ...good, keys: { ...good.keys, auth: 'short' } }, 'keys must be the p256dh and auth of a push subscription'],
      [
        { ...good, keys: { ...good.keys, p256dh: notOnCurve } },
        'keys must be the p256dh and auth of a push subscription',
      ],
    ] as const) {
      const { status: answered, body } = await subscribe(given, max);
      assert.deepEqual([answered, body.error], [400, error]);
    }
    for (let n = 0; n < 20; n += 1) assert.equal((await subscribe(newBrowser(base, `max${n}`), max)).status, 201);
    assert.equal((await subscribe(newBrowser(base, 'one-more'), max)).status, 429);
  });

  test('no address inside the own network is knocked at, and it is given up at once', async () => {
    const ned = await web.signUp();
    await subscribe({ ...newBrowser(base, 'x'), endpoint: 'http://169.254.169.254/latest' }, ned);
    await ned.ask('POST', '/api/push/test');
    const { failures } = await until(() =>
      web.deps.db.system
        .selectFrom('push_subscriptions')
        .select('failures')
        .where('user_id', '=', ned.id)
        .where('failures', '>', 0)
        .executeTakeFirst(),
    );
    assert.equal(failures, 1);
  });

  test('no two messages are sealed alike', () => {
    const { raw, read } = newBrowser(base, 'x');
    const [one, two] = [sealFor(raw, 'hello'), sealFor(raw, 'hello')];
    assert.notDeepEqual(one, two);
    assert.deepEqual([read(one), read(two)], ['hello', 'hello']);
  });
});
