import assert from 'node:assert/strict';
import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { assertAccessible, assertQuiet, enter, openPage, settle } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { browserSuite } from './suite.ts';

/** Where a browser would be reached: keeps what came. */
const bodies: Buffer[] = [];
const service = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    bodies.push(Buffer.concat(chunks));
    response.writeHead(201).end();
  });
});

const ecdh = createECDH('prime256v1');
const p256dh = ecdh.generateKeys();
const auth = randomBytes(16);

/** What the browser does with it before its service worker sees it. */
function opened(body: Buffer): string {
  const sender = body.subarray(21, 86);
  const derive = (secret: Buffer, salt: Buffer, info: Buffer, bytes: number) =>
    Buffer.from(hkdfSync('sha256', secret, salt, info, bytes));
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), p256dh, sender]);
  const secret = derive(ecdh.computeSecret(sender), auth, info, 32);
  const salt = body.subarray(0, 16);
  const key = derive(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
  const nonce = derive(secret, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
  const cipher = createDecipheriv('aes-128-gcm', key, nonce);
  cipher.setAuthTag(body.subarray(-16));
  return Buffer.concat([cipher.update(body.subarray(86, -16)), cipher.final()])
    .subarray(0, -1)
    .toString();
}

/** A headless browser has no push service, and nobody who could be asked: both say that they are there. */
const withManager = (endpoint: string): string => `
  Object.defineProperty(Notification, 'permission', { get: () => 'granted' });
  Notification.requestPermission = async () => 'granted';
  let made = null;
  const subscription = {
    endpoint: ${JSON.stringify(endpoint)},
    toJSON: () => ({ endpoint: ${JSON.stringify(endpoint)}, keys: ${JSON.stringify({
      p256dh: p256dh.toString('base64url'),
      auth: auth.toString('base64url'),
    })} }),
    unsubscribe: async () => { made = null; return true; },
  };
  PushManager.prototype.getSubscription = async () => made;
  PushManager.prototype.subscribe = async ({ applicationServerKey, userVisibleOnly }) => {
    if (!userVisibleOnly || applicationServerKey.length !== 65) throw new Error('not a key of ours');
    made = subscription;
    return made;
  };`;

browserSuite('messages on a device, in the browser', (stage) => {
  let watched: WatchedPage;
  before(async () => {
    service.listen(0, '127.0.0.1');
    await once(service, 'listening');
    watched = await openPage(stage.browser, stage.platform.url);
    const { port } = service.address() as AddressInfo;
    await watched.context.addInitScript({ content: withManager(`http://127.0.0.1:${port}/device`) });
    await enter(watched.page, stage.platform.owner);
  });
  after(async () => {
    await watched?.context.close();
    service.close();
  });

  test('a device is told after a click, a test reaches it, and the worker shows what it says', async () => {
    const { page, context } = watched;
    await settle(page, '/dashboard/settings?tab=notifications');
    await page.getByRole('button', { name: 'Tell me on this device' }).click();
    await page.getByText('This device is told.').waitFor();
    await page
      .getByRole('listitem')
      .filter({ hasText: / on Linux/ })
      .waitFor();
    await assertAccessible(page, 'messages on devices');
    await page.getByRole('button', { name: 'Send a test' }).click();
    while (bodies.length === 0) await page.waitForTimeout(50);
    const data = opened(bodies[0]!);
    assert.equal((JSON.parse(data) as { body: string }).body, 'This browser is told.');

    // The worker itself, and what it asks the browser to show.
    const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
    const shown = await worker.evaluate(async (text) => {
      const scope = globalThis as unknown as {
        dispatchEvent: (event: Event) => boolean;
        registration: { showNotification: (title: string, options: { body: string; tag: string }) => Promise<void> };
        PushEvent: new (type: string, init: { data: string }) => Event;
      };
      return new Promise<string[]>((resolve) => {
        scope.registration.showNotification = async (title, { body, tag }) => resolve([title, body, tag]);
        scope.dispatchEvent(new scope.PushEvent('push', { data: text }));
      });
    }, data);
    assert.deepEqual(shown, ['Troupe', 'This browser is told.', 'test']);
    assertQuiet(watched);
  });

  test('what is told is chosen by kind, and kept', async () => {
    const { page } = watched;
    const done = page.getByRole('checkbox', { name: 'A task is done' });
    assert.equal(await done.isChecked(), false);
    await done.click();
    await page.getByRole('checkbox', { name: 'A task is done', checked: true }).waitFor();
    await settle(page, '/dashboard/settings?tab=notifications');
    await page.getByRole('checkbox', { name: 'A task is done', checked: true }).waitFor();
    await page.getByRole('checkbox', { name: 'A task failed', checked: true }).waitFor();
    assertQuiet(watched);
  });

  test('a device is removed where it is listed', async () => {
    const { page } = watched;
    await page.getByRole('button', { name: /^Remove .* on Linux/ }).click();
    await page.getByRole('button', { name: 'Send a test' }).first().waitFor({ state: 'detached' });
    await page.getByText('This device is told nothing.').waitFor();
    assertQuiet(watched);
  });
});
