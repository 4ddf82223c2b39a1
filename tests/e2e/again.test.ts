import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { assertAccessible, assertQuiet, enter, openPage, say, settle, soon } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import type { Caller } from './content.ts';
import { browserSuite } from './suite.ts';

/** Whether calls fail, of every model. */
let fails = false;
const model: StandIn = await createStandIn((request, response) => {
  if (fails) {
    response.writeHead(400, { 'content-type': 'application/json' });
    return void response.end(JSON.stringify({ error: { message: 'Not today' } }));
  }
  const text = JSON.stringify(request.body['messages'] ?? []);
  replyChat(request, response, { content: text.includes('Berlin moved') ? 'Read it' : 'Heard' });
});
const calls = () => model.requests.filter(({ path }) => path.endsWith('/chat/completions'));
const lastCall = () => JSON.stringify(calls().at(-1)?.body);

browserSuite(
  'what is tried again, in the browser',
  (stage) => {
    let watched: WatchedPage;
    let caller: Caller;
    let agentId = '';
    before(async () => {
      caller = await signedInCaller(stage.platform, stage.platform.owner);
      const made = { name: 'Ada', model: 'openai/gpt-4o-mini', config: { tools: [] } };
      ({ id: agentId } = (await caller.call<{ agent: { id: string } }>('POST', '/api/agents/provision', made)).agent);
      watched = await openPage(stage.browser, stage.platform.url);
      await enter(watched.page, stage.platform.owner);
    });
    after(async () => {
      await watched?.context.close();
      await model.close();
    });
    const open = (query: string) => settle(watched.page, `/dashboard/agents/${agentId}?${query}`);

    test('what failed is tried again with its files and the model that is chosen, and says which model answered', async () => {
      const { page } = watched;
      await open('tab=chat');
      await page.getByRole('button', { name: /^Model: / }).click();
      await page.getByRole('dialog').getByLabel('Search models').fill('gemini flash');
      await page.getByRole('dialog').getByLabel('Search models').press('Enter');
      await page.getByRole('button', { name: /^Model: Gemini/ }).waitFor();
      await page
        .getByLabel('Files to attach')
        .setInputFiles([{ name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('Berlin moved to 5 May') }]);
      await page.getByText('uploading').first().waitFor({ state: 'detached' });
      fails = true;
      await say(page, 'What is new?');
      const log = page.getByRole('log');
      const again = log.getByRole('button', { name: 'Try again' });
      await again.waitFor();
      fails = false;
      await again.click();
      await log.getByText('Read it').waitFor();
      assert.match(lastCall(), /Berlin moved to 5 May/);
      assert.match(String(calls().at(-1)?.body['model']), /gemini/);
      const answer = log.locator('article', { hasText: 'Read it' });
      await answer.getByText('Gemini 2.0 Flash').waitFor();
      assertQuiet(watched);
    });

    test('an answer is asked for again by another model, here the agent’s own', async () => {
      const { page } = watched;
      const log = page.getByRole('log');
      await log.getByRole('button', { name: 'Answer again with another model…' }).last().click();
      const dialog = page.getByRole('dialog');
      await assertAccessible(page, 'another model for an answer');
      const before = calls().length;
      await dialog.getByRole('button', { name: /^As set for the agent: / }).click();
      await log.getByRole('group', { name: '2 of 2' }).waitFor();
      await soon(async () => assert.equal(calls().length, before + 1));
      assert.match(String(calls().at(-1)?.body['model']), /gpt-4o-mini/);
      assert.match(lastCall(), /Berlin moved to 5 May/);
      const answer = log.locator('article', { hasText: 'Read it' }).last();
      await answer.waitFor();
      // Its own needs no word.
      assert.equal(await answer.getByText('GPT-4o').count(), 0);
      // Without a choice of its own it is the one that is chosen below.
      await log.getByRole('button', { name: 'Answer again', exact: true }).last().click();
      await log.getByRole('group', { name: '3 of 3' }).waitFor();
      await soon(async () => assert.match(String(calls().at(-1)?.body['model']), /gemini/));
      assertQuiet(watched);
    });

    test('an answer is copied where the address is not secure, too, and it is told', async () => {
      const { page } = watched;
      await page.addInitScript(
        'Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true })',
      );
      await open('tab=chat');
      const log = page.getByRole('log');
      const answer = log.locator('article', { hasText: 'Read it' }).last();
      await answer.getByRole('button', { name: 'Copy' }).click();
      await answer.getByRole('status').getByText('Copied').waitFor();
      await answer.getByRole('button', { name: 'Copied' }).waitFor();
      await page.getByLabel('Message').focus();
      await page.keyboard.press('Control+v');
      assert.equal(await page.getByLabel('Message').inputValue(), 'Read it');
      await page.getByLabel('Message').fill('');
      await answer.getByRole('button', { name: 'Copy' }).waitFor();
      await page.evaluate('navigator.__defineGetter__("clipboard", () => ({ writeText: () => Promise.reject() }))');
      await answer.getByRole('button', { name: 'Copy' }).click();
      await answer
        .getByRole('status')
        .getByText(/does not let it be copied/)
        .waitFor();
      assertQuiet(watched);
    });

    test('a comparison whose answer was lost is the same one, and is paid once', async () => {
      const { page } = watched;
      await settle(page, '/dashboard/compare');
      const ids: string[] = [];
      await page.route('**/api/compare', async (route) => {
        ids.push((route.request().postDataJSON() as { id: string }).id);
        const answer = await route.fetch();
        if (ids.length > 1) return route.fulfill({ response: answer });
        return route.abort();
      });
      const before = calls().length;
      await page.getByLabel('What do you ask them?').fill('Which of you?');
      await page.getByRole('button', { name: 'Ask all of them' }).click();
      await page.getByText('The platform cannot be reached.').first().waitFor();
      // After a reload it is still the same.
      await settle(page, '/dashboard/compare');
      await page.getByRole('button', { name: 'Ask all of them' }).click();
      await page.getByText('Heard').nth(1).waitFor();
      assert.equal(ids.length, 2);
      assert.equal(ids[0], ids[1]);
      assert.equal(calls().length, before + 2);
      await page.unroute('**/api/compare');
      assertQuiet(watched, [/ERR_FAILED/]);
    });

    test('a form saves what was changed in it, keeps it until then, and brings back no rule that was taken away', async () => {
      const { page, context } = watched;
      const rule = (within: string) => ({ tool: 'write_file', within });
      await caller.call('PUT', `/api/agents/${agentId}/config`, {
        safety: { standing: [rule('a.txt'), rule('b.txt')] },
      });
      const config = async () => {
        const path = `/api/agents/${agentId}/config`;
        const { config: now } = await caller.call<{ config: Record<string, Record<string, unknown>> }>('GET', path);
        return now;
      };
      const standing = async () => (await config())['safety']!['standing'];
      await open('tab=settings&part=config');
      const days = page.getByLabel('Days until a memory is forgotten');
      await days.fill('77');
      const other = await context.newPage();
      await settle(other, `/dashboard/agents/${agentId}?tab=settings&part=config`);
      await other.getByRole('button', { name: 'Take away: write and change a.txt' }).click();
      await soon(async () => assert.deepEqual(await standing(), [rule('b.txt')]));
      // The form here has not heard of it, and saves its own change alone.
      await page.getByRole('button', { name: 'Save configuration' }).click();
      await page.getByText('Saved. The agent uses it').first().waitFor();
      assert.deepEqual(await standing(), [rule('b.txt')]);
      assert.equal((await config())['memory']!['ttlDays'], 77);

      // Taking a rule away beside it leaves what is being typed as it is, and so does a reload.
      await days.fill('78');
      await page.getByRole('button', { name: 'Take away: write and change b.txt' }).click();
      await page.getByText(/^No rules yet\./).waitFor();
      assert.equal(await days.inputValue(), '78');
      await open('tab=settings&part=config');
      await page.getByText('This is what you had typed and not saved.').waitFor();
      assert.equal(await days.inputValue(), '78');
      await assertAccessible(page, 'a configuration that is not saved');
      await page.getByRole('button', { name: 'Begin anew' }).click();
      assert.equal(await days.inputValue(), '77');
      assert.equal((await config())['memory']!['ttlDays'], 77);
      await other.close();
      assertQuiet(watched);
    });

    test('what was typed is there again in other forms, but for what is secret', async () => {
      const { page } = watched;
      await open('tab=chat');
      const asked = page.getByRole('log').locator('article', { hasText: 'What is new?' }).last();
      await asked.hover();
      await asked.getByRole('button', { name: 'Edit' }).click();
      await page.getByLabel('Edit your words').fill('What else is new?');
      await open('tab=chat');
      await asked.hover();
      await asked.getByRole('button', { name: 'Edit' }).click();
      assert.equal(await page.getByLabel('Edit your words').inputValue(), 'What else is new?');
      await page.keyboard.press('Escape');

      await open('tab=connections');
      await page.getByRole('button', { name: 'Add a server' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Address or command').fill('https://example.org/mcp');
      await dialog.getByLabel('Headers').fill('Authorization: secret');
      await open('tab=connections');
      await page.getByRole('button', { name: 'Add a server' }).click();
      assert.equal(await dialog.getByLabel('Address or command').inputValue(), 'https://example.org/mcp');
      assert.equal(await dialog.getByLabel('Headers').inputValue(), '');
      await dialog.getByRole('button', { name: 'Cancel' }).click();

      await settle(page, '/dashboard/teams?tab=editor');
      const yaml = page.getByRole('textbox').first();
      await yaml.fill('name: half');
      await settle(page, '/dashboard/teams?tab=editor');
      assert.equal(await page.getByRole('textbox').first().inputValue(), 'name: half');
      await page.getByRole('button', { name: 'Begin anew' }).click();
      await soon(async () => assert.notEqual(await page.getByRole('textbox').first().inputValue(), 'name: half'));
      assertQuiet(watched);
    });
  },
  { OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: model.url },
);
