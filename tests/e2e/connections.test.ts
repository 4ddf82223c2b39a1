import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { createEverything } from '@troupe/testing/mcp/everything';
import type { Page } from 'playwright-core';
import { SMTPServer } from 'smtp-server';
import { assertAccessible, assertQuiet, enter, openPage, settle, soon } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import { browserSuite } from './suite.ts';

/** The port is known before the platform starts: its operator names the host. */
const everything = createEverything();
const server: Server = createServer((request, response) => {
  void (async () => {
    const chunks = (await request.toArray()) as Buffer[];
    const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]);
    const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {};
    const answered = await everything.fetch(
      new Request('http://x/mcp', { method: request.method ?? 'GET', headers, ...body }),
    );
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    response.end(await answered.text());
  })();
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;

const PASSWORD = 'for programs';
const mails: { to: string; text: string }[] = [];
const post = new SMTPServer({
  authOptional: false,
  allowInsecureAuth: true,
  disabledCommands: ['STARTTLS'],
  onAuth: ({ password }, _, done) =>
    password === PASSWORD ? done(null, { user: 'ada' }) : done(new Error('Invalid login')),
  onData(stream, { envelope }, done) {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      mails.push({ to: envelope.rcptTo[0]?.address ?? '', text: Buffer.concat(chunks).toString() });
      done();
    });
  },
});
// A client that hangs up is no error of the server's.
post.on('error', () => {});
post.listen(0, '127.0.0.1');
await once(post.server, 'listening');
const port = (post.server.address() as AddressInfo).port;

const SIZES = [390, 820, 1920];

/** Leads the focus to what has this name, by Tab alone. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let tries = 0; tries < 150; tries += 1) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate<string>(
      `(document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '').trim()`,
    );
    if (name.test(at)) return;
  }
  assert.fail(`the keyboard does not reach ${name}`);
}

browserSuite(
  'connections of an agent',
  (stage) => {
    let agentId: string;
    let watched: WatchedPage;
    let page: Page;
    before(async () => {
      const { call } = await signedInCaller(stage.platform, stage.platform.owner);
      const made = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', { name: 'Ada' });
      agentId = made.agent.id;
      const { token } = await call<{ token: string }>('GET', `/api/agents/${agentId}/token`);
      await fetch(`${stage.platform.url}/api/devices/pair`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'Pocket phone' }),
      });
      watched = await openPage(stage.browser, stage.platform.url);
      ({ page } = watched);
      await enter(page, stage.platform.owner);
    });
    after(async () => {
      await watched?.context.close();
      server.close().closeAllConnections();
      await new Promise<void>((resolve) => post.close(resolve));
    });
    const open = () => settle(page, `/dashboard/agents/${agentId}?tab=connections`);

    test('an MCP server is added, tried and removed without a mouse', async () => {
      await open();
      await page.getByText('No servers yet.').waitFor();
      await tabTo(page, /^Add a server$/);
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Add a server' });
      await dialog.waitFor();
      const inFocus = () => page.evaluate<string>('document.activeElement?.getAttribute("name") ?? ""');
      await soon(async () => assert.equal(await inFocus(), 'name', 'the first field has the focus'));
      await page.keyboard.type('not a name');
      await page.keyboard.press('Tab');
      await page.keyboard.type(`http://${host}/mcp`);
      await page.keyboard.press('Enter');
      await dialog.getByText('A server is named by letters, digits, - and _').waitFor();
      assert.equal(await inFocus(), 'name', 'what is to be mended has the focus');
      await assertAccessible(page, 'a server that is not named well');
      await page.keyboard.press('Control+a');
      await page.keyboard.type('things');
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });

      await tabTo(page, /^Test: things$/);
      await page.keyboard.press('Enter');
      const row = page.getByRole('list', { name: 'MCP servers' }).getByRole('listitem');
      await row.getByText('works', { exact: true }).waitFor();
      await row.getByText(/things_test_simple_text/).waitFor();
      await tabTo(page, /^Remove: things$/);
      await page.keyboard.press('Enter');
      await page.getByRole('alertdialog').waitFor();
      await tabTo(page, /^Remove$/);
      await page.keyboard.press('Enter');
      await page.getByText('No servers yet.').waitFor();
      assertQuiet(watched);
    });

    test('a server of all agents is added on its page, shown with each agent, and switched off for one', async () => {
      await settle(page, '/dashboard/mcp-servers');
      await page.getByText('No servers for all agents yet.').waitFor();
      await page.getByRole('button', { name: 'Add a server' }).click();
      const dialog = page.getByRole('dialog', { name: 'Add a server' });
      await dialog.getByLabel('Name').fill('shared');
      await dialog.getByLabel('Address or command').fill(`http://${host}/mcp`);
      await assertAccessible(page, 'a server of all agents that is added');
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      const row = page.getByRole('list', { name: 'MCP servers' }).getByRole('listitem').first();
      await row.getByRole('button', { name: 'Test: shared' }).click();
      await row.getByText('works', { exact: true }).waitFor();
      await row.getByRole('button', { name: 'Change: shared' }).click();
      const change = page.getByRole('dialog', { name: 'Change shared' });
      await change.getByLabel('Only these tools').fill('test_simple_text');
      await change.getByRole('button', { name: 'Save' }).click();
      await change.waitFor({ state: 'detached' });

      await open();
      const inherited = page.getByRole('list', { name: 'MCP servers' }).getByRole('listitem');
      await inherited.getByText('of all agents', { exact: true }).waitFor();
      await inherited.getByRole('button', { name: 'Switch off: shared' }).click();
      await inherited.getByText('switched off here').waitFor();
      await assertAccessible(page, 'a server of all agents at one of them');
      await inherited.getByRole('button', { name: 'Switch on: shared' }).click();
      await inherited.getByRole('button', { name: 'Test: shared' }).click();
      await inherited.getByText('Offers shared_test_simple_text', { exact: true }).waitFor();

      await page.getByRole('link', { name: 'Servers of all agents' }).click();
      await row.getByRole('button', { name: 'Remove: shared' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
      await page.getByText('No servers for all agents yet.').waitFor();
      assertQuiet(watched);
    });

    test('a server that does not answer says so in its row, with the way to try again', async () => {
      const { call } = await signedInCaller(stage.platform, stage.platform.owner);
      await call('PUT', `/api/agents/${agentId}/mcp-servers/gone`, { url: `http://${host}/nowhere-to-be-found` });
      await call('PUT', `/api/agents/${agentId}/mcp-servers/shut`, { url: 'http://127.0.0.1:9/mcp' });
      await open();
      const row = page.getByRole('listitem').filter({ hasText: 'shut' });
      await row.getByRole('button', { name: 'Test: shut' }).click();
      await row.getByText('fails', { exact: true }).waitFor();
      const remedies = row.getByRole('group', { name: 'What to do about it' });
      await remedies.getByRole('button', { name: 'Try now: shut' }).click();
      await row.getByText(/^It cannot be used: .*The agent works without it\.$/).waitFor();
      assertQuiet(watched);
    });

    test('an address that names a channel opens its form', async () => {
      await settle(page, `/dashboard/agents/${agentId}?tab=connections&connect=telegram`);
      await page.getByRole('dialog', { name: 'Set up Telegram' }).getByLabel('Token').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog', { name: 'Set up Telegram' }).first().waitFor({ state: 'detached' });
      assertQuiet(watched);
    });

    test('a channel is set up, refused with what to do, mended, and its test message arrives', async () => {
      await open();
      const row = page.getByRole('list', { name: 'Channels' }).getByRole('listitem').filter({ hasText: 'E-mail' });
      await row.getByRole('button', { name: 'Set up: E-mail' }).click();
      const dialog = page.getByRole('dialog', { name: /E-mail$/ });
      await dialog.getByLabel('Mail address').fill('ada@test.example');
      await dialog.getByLabel('Password').fill('the usual one');
      await dialog.getByLabel('Server for sending (SMTP)').fill('127.0.0.1');
      await dialog.getByLabel('Port for sending').fill(String(port));
      await dialog.getByLabel('Encryption for sending').selectOption('none');
      await dialog.getByLabel('Who may write').fill('*');
      await assertAccessible(page, 'a channel that is set up');
      await dialog.getByRole('button', { name: 'Save' }).click();
      // Without a server for reading there is an address to be told to the provider.
      await dialog.getByText('Address that the service calls').waitFor();
      await dialog.getByRole('button', { name: 'Close' }).last().click();

      await row.getByRole('button', { name: 'Test: E-mail' }).click();
      await dialog.getByLabel('Send a test message to').fill('ann@people.example');
      await dialog.getByRole('button', { name: 'Test now' }).click();
      await dialog.getByText(/^It does not work: /).waitFor();
      await dialog.getByText(/a password for programs/).waitFor();
      await assertAccessible(page, 'a channel that does not work');
      await dialog.getByRole('button', { name: 'Correct it' }).click();
      await dialog.getByLabel('Password').fill(PASSWORD);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.getByRole('button', { name: 'Close' }).last().click();

      await row.getByRole('button', { name: 'Test: E-mail' }).click();
      await dialog.getByLabel('Send a test message to').fill('ann@people.example');
      await page.keyboard.press('Enter');
      await dialog.getByText(/^It works\..* A test message is on its way to ann@people\.example\.$/).waitFor();
      assert.deepEqual(
        mails.map(({ to }) => to),
        ['ann@people.example'],
      );
      const [, said = ''] = mails[0]!.text.split('\r\n\r\n');
      assert.match(Buffer.from(said, 'base64').toString(), /This is a test message/);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      assertQuiet(watched);
    });

    test('a program gets a key and the call that uses it', async () => {
      await open();
      await page.getByRole('button', { name: 'JavaScript' }).click();
      await page.getByText(`agentId: '${agentId}'`).waitFor();
      await page.getByRole('button', { name: 'New key' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Shop');
      await page.keyboard.press('Enter');
      await dialog.getByRole('heading', { name: 'Your new key' }).waitFor();
      const call = await dialog.getByRole('figure').nth(1).locator('pre').innerText();
      const [, key] = /Bearer (sk_\w+)/.exec(call) ?? [];
      assert.ok(key && call.includes(agentId), call);
      const answered = await fetch(`${stage.platform.url}/api/chat`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: /-d '(.*)'$/.exec(call)?.[1] ?? '',
      });
      assert.equal(answered.status, 200, await answered.text());
      await dialog.getByRole('button', { name: 'I have copied it' }).click();
      assertQuiet(watched);
    });

    test('a device that waits is allowed and taken away, and a login is sealed', async () => {
      await settle(page, '/dashboard/inbox');
      await page.getByRole('group', { name: 'Pocket phone asks to be paired with Ada' }).waitFor();
      await open();
      const row = page.getByRole('list', { name: 'Devices' }).getByRole('listitem');
      await row.getByText('waits for you').waitFor();
      await row.getByRole('button', { name: 'Allow: Pocket phone' }).click();
      await row.getByText('allowed', { exact: true }).waitFor();
      await row.getByRole('button', { name: 'Revoke: Pocket phone' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
      await page.getByText('No devices yet.').waitFor();

      await page.getByRole('button', { name: 'Add a login' }).click();
      const dialog = page.getByRole('dialog', { name: 'Add a login' });
      await dialog.getByLabel('Name of the login').fill('shop');
      await dialog.getByLabel('Site').fill('https://shop.example');
      await dialog.getByLabel('Username').fill('ada');
      await dialog.getByLabel('Password').fill('secret');
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('list', { name: 'Sealed logins' }).getByText('https://shop.example').waitFor();
      assertQuiet(watched);
    });

    test('all of it fits and can be read, on a phone, a tablet and a large screen, in both themes', async () => {
      for (const theme of ['light', 'dark']) {
        await open();
        await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
        for (const width of SIZES) {
          await page.setViewportSize({ width, height: 900 });
          const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
          assert.ok(wide <= 0, `${wide} px wider than a screen of ${width}`);
          await assertAccessible(page, `connections at ${width}, ${theme}`);
        }
      }
      assertQuiet(watched);
    });
  },
  { AGENT_PRIVATE_HOSTS: `${host},127.0.0.1:${port},127.0.0.1:9` },
);
