import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, assertQuiet, enter, openPage, settle } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import { browserSuite } from './suite.ts';

// What connections of an agent do besides is tried in a suite of its own: a user may ask for agents 100 times a minute.
browserSuite('where an agent is reached', (stage) => {
  let agentId: string;
  let watched: WatchedPage;
  let page: Page;
  before(async () => {
    const { call } = await signedInCaller(stage.platform, stage.platform.owner);
    const made = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', { name: 'Ada' });
    agentId = made.agent.id;
    watched = await openPage(stage.browser, stage.platform.url);
    ({ page } = watched);
    await enter(page, stage.platform.owner);
  });
  after(() => watched?.context.close());
  const open = () => settle(page, `/dashboard/agents/${agentId}?tab=connections`);

  test('the agent is reached as a model and as a server of tools, by the addresses that are shown', async () => {
    await open();
    await page.getByRole('button', { name: 'OpenAI', exact: true }).click();
    const code = page.getByLabel('Python, with the client of OpenAI');
    const [, baseUrl = ''] = /base_url='([^']+)'/.exec(await code.innerText()) ?? [];
    await page.getByRole('button', { name: 'MCP', exact: true }).click();
    const mcp = await page.getByLabel('Address of its MCP server').innerText();
    await assertAccessible(page, 'addresses of an agent');
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Script');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('heading', { name: 'Your new key' }).waitFor();
    const key = await page.getByRole('dialog').locator('pre').first().innerText();
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const messages = [{ role: 'user', content: 'Say hello.' }];
    const body = JSON.stringify({ model: agentId, messages });
    const answer = await fetch(`${baseUrl}/chat/completions`, { method: 'POST', headers, body });
    assert.equal(answer.status, 200, await answer.clone().text());
    const { choices } = (await answer.json()) as { choices: { message: { content: string } }[] };
    assert.match(choices[0]!.message.content, /./);
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const accept = 'application/json, text/event-stream';
    const listed = await fetch(mcp, { method: 'POST', headers: { ...headers, accept }, body: JSON.stringify(call) });
    assert.match(await listed.text(), /ask_agent/);
    await page.getByRole('dialog').getByRole('button', { name: 'I have copied it' }).click();
    assertQuiet(watched);
  });

  test('Telegram leads to a first message, sees it arrive, and writes back to who sent it', async () => {
    // Nobody here is Telegram: what the platform would say of it is said in its place.
    const at = `**/api/agents/${agentId}/channels`;
    const receipts: Record<string, unknown>[] = [];
    const tried: unknown[] = [];
    await page.route(at, async (route) => {
      const answer = await route.fetch();
      const { channels } = (await answer.json()) as { channels: { kind: string }[] };
      const set = { isSet: true, state: 'listening', secrets: ['token'], error: null };
      const json = {
        channels: channels.map((one) => (one.kind === 'telegram' ? { ...one, ...set } : one)),
        receipts,
      };
      await route.fulfill({ response: answer, json });
    });
    await page.route(`${at}/telegram/test`, async (route) => {
      tried.push(route.request().postDataJSON());
      await route.fulfill({ json: { ok: true, account: '@press_bot', error: null } });
    });
    await open();
    await page.getByRole('button', { name: 'Test: Telegram' }).click();
    const dialog = page.getByRole('dialog', { name: 'Test Telegram' });
    await dialog.getByText('It works. The agent is @press_bot there.').waitFor();
    const link = dialog.getByRole('link', { name: 'Open it in Telegram' });
    assert.equal(await link.getAttribute('href'), 'https://t.me/press_bot');
    await dialog.getByRole('img', { name: /@press_bot/ }).waitFor();
    await dialog.getByText('Waits for your message…').waitFor();
    await assertAccessible(page, 'a channel that waits for a first message');
    const receivedAt = new Date().toISOString();
    const mine = { channel: 'telegram', id: '5512:1', sender: '5512', chat: '5512', note: null, tries: 1 };
    receipts.unshift({ ...mine, state: 'answered', receivedAt, doneAt: receivedAt });
    await dialog.getByText('Your message has arrived and is answered').waitFor();
    assert.equal(await dialog.getByLabel('Send a test message to').inputValue(), '5512');
    await dialog.getByRole('button', { name: 'Test now' }).click();
    await dialog.getByText(/A test message is on its way to 5512\.$/).waitFor();
    assert.deepEqual(tried, [{}, { to: '5512' }]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    assertQuiet(watched);
  });
});
