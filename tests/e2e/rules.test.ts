import assert from 'node:assert/strict';
import { before, after, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { assertAccessible, assertQuiet, enter, openPage, say, settle, soon } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import { createNotesModel } from './notes-model.ts';
import { browserSuite } from './suite.ts';

const model = await createNotesModel();
const env = { OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: model.url };

browserSuite(
  'rules that an owner makes, in the browser',
  (stage) => {
    let agentId = '';
    let watched: WatchedPage;
    before(async () => {
      const { call } = await signedInCaller(stage.platform, stage.platform.owner);
      const made = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
        name: 'Ada',
        model: 'xiaomi/mimo-v2-pro',
        config: { instruction: 'You take notes.', tools: ['filesystem'], safety: { approvals: { filesystem: 'ask' } } },
      });
      agentId = made.agent.id;
      watched = await openPage(stage.browser, stage.platform.url);
      await enter(watched.page, stage.platform.owner);
    });
    after(async () => {
      await watched?.context.close();
      await model.close();
    });
    const open = (tab: string) => settle(watched.page, `/dashboard/agents/${agentId}?tab=${tab}`);

    test('it is not asked again about one folder, by a rule that can be found and taken away; a refusal says why', async () => {
      const { page } = watched;
      await open('chat');
      const log = page.getByRole('log');
      const done = log.locator('strong', { hasText: 'Done.' });
      await say(page, 'A note in reports/may.txt');
      await log.getByRole('button', { name: 'Always…' }).click();
      const choice = log.getByRole('group', { name: 'From now on it may, without asking:' });
      await log.getByText('So far it has asked about this once: now.').waitFor();
      // All of them stand there to be read, the narrowest first and chosen.
      for (const [index, words] of [
        'write and change reports/may.txt',
        'write and change anything in reports/',
        'write and change any file',
      ].entries()) {
        await choice.getByText(words, { exact: true }).waitFor();
        assert.equal(await choice.getByRole('radio').nth(index).getAttribute('value'), String(index));
      }
      const chosen = () => page.evaluate<string>('document.activeElement?.closest("label")?.innerText');
      await soon(async () => assert.equal(await chosen(), 'write and change reports/may.txt'));
      await assertAccessible(page, 'a rule that is made');
      await page.keyboard.press('ArrowDown');
      assert.equal(await chosen(), 'write and change anything in reports/');
      await page.keyboard.press('Enter');
      await done.nth(0).waitFor();
      await say(page, 'A note in reports/june.txt');
      await done.nth(1).waitFor();
      assert.equal(await log.getByRole('button', { name: 'Always…' }).count(), 0);

      await say(page, 'A note in plan.txt');
      await log.getByRole('button', { name: 'Say why not…' }).click();
      await log.getByLabel('Why not, or what it should do instead').fill('Only in reports, please.');
      await log.getByRole('button', { name: 'Refuse and tell it' }).click();
      await done.nth(2).waitFor();
      await log.getByText('They say: Only in reports, please.').last().waitFor();

      await settle(page, `/dashboard/agents/${agentId}?tab=settings&part=config`);
      await page.getByText('write and change anything in reports/').waitFor();
      await assertAccessible(page, 'rules of an agent');
      await page.getByRole('button', { name: 'Take away: write and change anything in reports/' }).click();
      await page.getByText(/^No rules yet\./).waitFor();
      assertQuiet(watched);
    });

    test('a file that is there already is shown as what changes in it, also in the inbox', async () => {
      const { page } = watched;
      await open('chat');
      const log = page.getByRole('log');
      const done = log.locator('strong', { hasText: 'Done.' });
      const before = await done.count();
      await say(page, 'A note in change.txt');
      await log.getByRole('button', { name: 'Allow once' }).click();
      await done.nth(before).waitFor();
      await say(page, 'The note again, in change.txt');
      const changes = (card: Locator) => card.locator('ins', { hasText: '+ again' });
      await changes(log).waitFor();
      // The line that stays is no news.
      assert.equal(await log.locator('ins', { hasText: 'Hello' }).count(), 0);
      assert.equal(await log.locator('del').count(), 0);
      await assertAccessible(page, 'a file that would change');
      await settle(page, '/dashboard/inbox');
      const card = page.getByRole('group', { name: /change\.txt/ });
      await changes(card).waitFor();
      await card.getByRole('button', { name: 'Refuse', exact: true }).click();
      await card.waitFor({ state: 'detached' });
      assertQuiet(watched);
    });

    test('the inbox puts off, is done and undoes, by keys, the same in every tab; what was decided stays', async () => {
      const { page, context } = watched;
      await open('chat');
      const log = page.getByRole('log');
      await say(page, 'A note in plan.txt');
      await log.getByRole('button', { name: 'Allow once' }).waitFor();
      const other = await context.newPage();
      await settle(other, '/dashboard/inbox');
      await settle(page, '/dashboard/inbox');
      const card = (tab: Page) => tab.getByRole('group', { name: /plan\.txt/ });
      await card(page).waitFor();
      await card(other).waitFor();

      // Later: chosen without a mouse, gone in both tabs, and back when that is undone in the other one.
      await page.keyboard.press('s');
      await page.getByRole('group', { name: 'When it comes back' }).waitFor();
      assert.equal(await page.evaluate('document.activeElement?.textContent'), 'In an hour');
      await assertAccessible(page, 'when something comes back');
      await page.keyboard.press('Enter');
      await page.getByText('Nothing waits for you').waitFor();
      await other.getByText('Nothing waits for you').waitFor();
      await page.getByRole('tab', { name: 'Later 1' }).click();
      await page.getByText(/^Comes back /).waitFor();
      await assertAccessible(page, 'what was put off');
      await other.keyboard.press('u');
      await card(other).waitFor();
      await page.getByText('Nothing is put off').waitFor();

      // What comes back does so by itself.
      await page.getByRole('tab', { name: /^Waiting/ }).click();
      const item = (await page.evaluate<{ items: { id: string }[] }>(`fetch('/api/inbox').then((r) => r.json())`))
        .items[0]!.id;
      const until = new Date(Date.now() + 3000).toISOString();
      const body = JSON.stringify({ state: 'later', until });
      await page.evaluate(`fetch('/api/inbox/marks/${item}', {
        method: 'PUT', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(body)} })`);
      await page.getByText('Nothing waits for you').waitFor();
      await card(page).waitFor();
      assert.ok(Date.now() >= Date.parse(until), 'it came back too early');

      await card(page).click();
      await page.keyboard.press('e');
      await page.getByText('Nothing waits for you').waitFor();
      await page.getByRole('tab', { name: 'Done' }).click();
      await assertAccessible(page, 'what is done');
      await page.locator('li').getByRole('button', { name: 'Undo' }).click();
      await page.getByRole('tab', { name: 'Waiting 1' }).click();
      await card(page).waitFor();
      // The agent has waited all the time.
      await page.keyboard.press('r');
      await page.getByText('Nothing waits for you').waitFor();
      await other.getByRole('tab', { name: 'Done' }).click();
      await other.getByText(/^Refused\. Ada: .*plan\.txt/).waitFor();
      await other.keyboard.press('u');
      await other.getByText('That has happened and cannot be undone').waitFor();
      await other.close();
      assertQuiet(watched);
    });
  },
  env,
);
