import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { createStandIn, replyChat, replyJson, type StandIn } from '@troupe/ai';
import { assertAccessible, assertQuiet, enter, openPage, settle, soon } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { browserSuite } from './suite.ts';

/** What hurt somebody who was here for the first time. */

const model: StandIn = await createStandIn((request, response) => {
  if (request.path.endsWith('/models')) return replyJson(response, { data: [{ id: 'house-large' }] });
  replyChat(request, response, { content: 'Good to see you.' });
});

browserSuite('the first hour of a newcomer', (stage) => {
  let watched: WatchedPage;
  before(async () => {
    watched = await openPage(stage.browser, stage.platform.url);
    await enter(watched.page, stage.platform.owner);
  });
  after(async () => {
    await watched?.context.close();
    await model.close();
  });

  test('a provider of one’s own answers an agent that was made in a hurry, and what is typed at once is a message', async () => {
    const { page } = watched;
    await settle(page, '/dashboard/admin?tab=providers');
    await page.getByRole('button', { name: 'Add a provider' }).click();
    await page.getByLabel('Kind').selectOption('compatible');
    await page.getByLabel('Name').fill('house');
    await page.getByLabel('Address').fill(`${model.url}/v1`);
    await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('cell', { name: 'house', exact: true }).waitFor();
    // From here the page leads on, as long as there is nobody to talk to.
    const onward = page.getByRole('link', { name: 'Make your first agent' });
    await assertAccessible(page, 'the first provider is there');
    await onward.click();
    await page.getByLabel('Name').fill('Scout');
    // Enter counts when it is known what the agent thinks with.
    await soon(async () => {
      await page.getByLabel('Name').press('Enter');
      await page.waitForURL(/agents\/[\w-]{10,}/, { timeout: 1000 });
    });
    await page.getByText('house-large').first().waitFor();
    assert.equal(await page.getByText('answers instead of').count(), 0);
    await soon(async () => assert.equal(await page.evaluate('document.activeElement?.tagName'), 'TEXTAREA'));
    await page.keyboard.type('Hello, can you hear me?');
    await page.keyboard.press('Enter');
    await page.getByRole('log').getByText('Good to see you.').waitFor();
    // The list beside it does not say any more that it works.
    const row = page.getByRole('navigation', { name: 'Conversations' }).locator('[aria-current]');
    await row.waitFor();
    assert.equal(await row.getByText('working').count(), 0);
    await settle(page, '/dashboard/admin?tab=providers');
    await page.getByRole('cell', { name: 'house', exact: true }).waitFor();
    assert.equal(await onward.count(), 0);
    assertQuiet(watched);
  });

  test('what is typed while the search is on its way is in it, and no key of the page', async () => {
    const { page } = watched;
    await settle(page, '/dashboard');
    await page.route(/palette/, async (route) => {
      await delay(500);
      await route.continue();
    });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('gi?harbour');
    const search = page.getByRole('combobox', { name: /Search/ });
    await search.waitFor();
    await soon(async () => assert.equal(await search.inputValue(), 'gi?harbour'));
    assert.equal(new URL(page.url()).pathname, '/dashboard');
    assertQuiet(watched);
  });
});
