import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { assertAccessible, assertQuiet, enter, openPage, settle } from './browser.ts';
import { signedInCaller, type Caller } from './content.ts';
import { browserSuite } from './suite.ts';

/** A site of somebody else's, as strict as sites are, with styles that would hide or break what is not kept apart. */
const STYLES = 'p,button,textarea,section,header{display:none!important;font-size:99px!important;color:red!important}';
const MOST_BYTES = 15 * 1024;

/** What a page has, as far as it is asked here. */
interface Styled {
  getComputedStyle: (of: unknown) => { fontSize: string };
}

interface Made {
  widget: { id: string; publicKey: string; embed: string };
}

function siteFor(embed: () => string, platform: () => string): Server {
  return createServer((request, response) => {
    if (request.url === '/site.css') {
      response.writeHead(200, { 'content-type': 'text/css' });
      return void response.end(STYLES);
    }
    response.writeHead(200, {
      'content-type': 'text/html',
      'content-security-policy': `default-src 'none'; img-src data:; style-src 'self'; script-src ${platform()}; connect-src ${platform()}; require-trusted-types-for 'script'; trusted-types 'none'`,
      'cross-origin-embedder-policy': 'require-corp',
    });
    response.end(
      `<!doctype html><html lang="en"><title>Shop</title><link rel="stylesheet" href="/site.css"><link rel="icon" href="data:,"><main><h1>Shop</h1></main>${embed()}</html>`,
    );
  });
}

const listening = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

browserSuite('a widget on a site of somebody else', (stage) => {
  let call: Caller['call'];
  let agentId: string;
  let made: Made['widget'];
  let site: string;
  let foreign: string;
  const sites = [0, 1].map(() =>
    siteFor(
      () => made.embed,
      () => stage.platform.url,
    ),
  );
  before(async () => {
    [site, foreign] = (await Promise.all(sites.map(listening))) as [string, string];
    ({ call } = await signedInCaller(stage.platform, stage.platform.owner));
    const agent = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', { name: 'Ada' });
    agentId = agent.agent.id;
    const body = { origins: [site], hosted: true, title: 'Ask the shop', greeting: 'Good day! What do you look for?' };
    made = (await call<Made>('POST', `/api/agents/${agentId}/widgets`, body)).widget;
    // As it stands in the page of a site; the test knows the platform by its address.
    made.embed = made.embed.replace(/src="[^"]*\/widget\.js"/, `src="${stage.platform.url}/widget.js"`);
  });
  after(() => sites.forEach((server) => server.close().closeAllConnections()));

  test('is small', async () => {
    const script = await fetch(`${stage.platform.url}/widget.js`);
    assert.equal(script.headers.get('cross-origin-resource-policy'), 'cross-origin');
    const size = gzipSync(Buffer.from(await script.arrayBuffer())).length;
    assert.ok(size > 1000 && size <= MOST_BYTES, `${size} bytes`);
  });

  test('answers under a strict policy, reads nothing as markup, and hands over to a person who answers live', async () => {
    const visitor = await openPage(stage.browser, site);
    const { page } = visitor;
    await page.goto('/');
    await page.getByRole('button', { name: 'Ask the shop' }).click();
    const dialog = page.getByRole('dialog', { name: 'Ask the shop' });
    await dialog.getByText('Good day! What do you look for?').waitFor();
    const hostile =
      '<img src=x onerror="document.title=1"><script>document.title=2</script> **bold** https://a.example/x';
    await dialog.getByLabel('Message').fill(hostile);
    await page.keyboard.press('Enter');
    await dialog.locator('.visitor').getByText(hostile).waitFor();
    await dialog.locator('.agent').nth(1).waitFor();
    assert.equal(await dialog.locator('img, script').count(), 0);
    assert.equal(await page.title(), 'Shop');
    const size = await dialog
      .locator('.visitor')
      .evaluate((node) => (globalThis as unknown as Styled).getComputedStyle(node).fontSize);
    assert.match(size, /px$/);
    assert.notEqual(size, '99px');
    await assertAccessible(page, 'a widget');

    await page.reload();
    await page.getByRole('button', { name: 'Ask the shop' }).click();
    await dialog.locator('.visitor').getByText(hostile).waitFor();
    assert.equal(await dialog.locator('.visitor').count(), 1, 'the conversation is there again, once');

    await dialog.getByRole('button', { name: 'Talk to a person' }).click();
    await dialog.getByText('A person was told that you are here.').waitFor();
    await dialog.getByLabel('Message').fill('Is anybody there?');
    await page.keyboard.press('Enter');
    const owner = await openPage(stage.browser, stage.platform.url);
    await enter(owner.page, stage.platform.owner);
    await settle(owner.page, '/dashboard/inbox');
    await owner.page.getByText('Is anybody there?').waitFor();
    await assertAccessible(owner.page, 'a visitor in the inbox');
    await owner.page.getByLabel('Your answer').fill('Yes, <b>Mia</b> here.');
    await owner.page.getByRole('button', { name: 'Answer', exact: true }).click();
    await dialog.locator('.person').getByText('Yes, <b>Mia</b> here.').waitFor();
    await dialog.getByLabel('Message').fill('Thank you, Mia');
    await page.keyboard.press('Enter');
    await owner.page.getByText('Thank you, Mia').waitFor();
    await owner.page.getByRole('button', { name: 'Give back to the agent' }).click();
    await dialog.getByText('You are talking with the assistant again.').waitFor();
    await owner.page.getByText('Nothing waits for you').waitFor();

    await call('PATCH', `/api/agents/${agentId}/widgets/${made.id}`, { enabled: false });
    await dialog.getByText('This chat is not available').waitFor();
    assert.equal(await dialog.getByLabel('Message').isDisabled(), true);
    await call('PATCH', `/api/agents/${agentId}/widgets/${made.id}`, { enabled: true });
    assertQuiet(visitor);
    assertQuiet(owner);
    await visitor.context.close();
    await owner.context.close();
  });

  test('is not shown by a site that its owner did not name', async () => {
    const watched = await openPage(stage.browser, foreign);
    const warned = watched.page.waitForEvent('console', (message) => message.text().includes('may not show the chat'));
    await watched.page.goto('/');
    await warned;
    assert.equal(await watched.page.locator('troupe-widget').count(), 0);
    await watched.context.close();
  });

  test('has a page of its own, in light and dark', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const watched = await openPage(stage.browser, stage.platform.url, { colorScheme });
      const { page } = watched;
      await page.goto(`/w/${made.publicKey}`);
      await page.getByText('Good day! What do you look for?').waitFor();
      await page.getByLabel('Message').fill('Hello');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.locator('.agent').nth(1).waitFor();
      await assertAccessible(page, `the page of a widget, ${colorScheme}`);
      assertQuiet(watched);
      await watched.context.close();
    }
  });

  test('is made, changed and removed on the page of its agent', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    await enter(page, stage.platform.owner);
    await settle(page, `/dashboard/agents/${agentId}?tab=connections`);
    await page.getByRole('button', { name: 'Make a widget' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Title').fill('Second');
    await dialog.getByLabel('Greeting').fill('Ahoy');
    await dialog.getByRole('figure', { name: 'Preview' }).getByText('Ahoy').waitFor();
    await dialog.getByLabel('Sites').fill('shop.example');
    await assertAccessible(page, 'a new widget');
    await dialog.getByRole('button', { name: 'Make a widget' }).click();
    await dialog.getByText('origins must be addresses of sites').waitFor();
    await dialog.getByLabel('Sites').fill('https://shop.example');
    await dialog.getByRole('button', { name: 'Make a widget' }).click();
    const row = page.getByRole('listitem').filter({ hasText: 'Second' });
    await row.getByText(/widget\.js" data-key="pk_/).waitFor();
    await assertAccessible(page, 'widgets of an agent');
    await row.getByRole('button', { name: 'Switch off' }).click();
    await row.getByText('off', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Remove: Second' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
    await row.waitFor({ state: 'detached' });
    assertQuiet(watched);
    await watched.context.close();
  });
});
