import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { assertAccessible, assertQuiet, enter, openPage, say, settle } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import { browserSuite } from './suite.ts';

const model: StandIn = await createStandIn((request, response) =>
  replyChat(request, response, { content: 'Heard by it' }),
);

browserSuite(
  'what is sent, in the browser',
  (stage) => {
    let watched: WatchedPage;
    before(async () => {
      const { call } = await signedInCaller(stage.platform, stage.platform.owner);
      const made = { name: 'Ada', model: 'openai/gpt-4o-mini' };
      const { agent } = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', made);
      watched = await openPage(stage.browser, stage.platform.url);
      await enter(watched.page, stage.platform.owner);
      await settle(watched.page, `/dashboard/agents/${agent.id}?tab=chat`);
    });
    after(async () => {
      await watched?.context.close();
      await model.close();
    });

    test('a model is found by its name, with its price, and answers this conversation', async () => {
      const { page } = watched;
      await page.getByRole('button', { name: /^Model: / }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Search models').fill('gemini flash');
      await dialog
        .getByRole('button', { name: /Gemini 2.0 Flash.*in, .* out per million tokens.*tokens of context/ })
        .waitFor();
      await assertAccessible(page, 'the choice of a model');
      await dialog.getByLabel('Search models').press('Enter');
      await page.getByRole('button', { name: /^Model: Gemini/ }).waitFor();
      await say(page, 'Who are you?');
      await page.getByRole('log').getByText('Heard by it').waitFor();
      const last = model.requests.findLast(({ path }) => path.endsWith('/chat/completions'));
      assert.match(String(last?.body['model']), /gemini/);
      assertQuiet(watched);
    });

    test('who was too fast is answered when the platform says so, and asks no sooner', async () => {
      const { page } = watched;
      const tries: number[] = [];
      await page.route('**/messages', (route) => {
        tries.push(Date.now());
        if (tries.length > 1) return route.continue();
        return route.fulfill({ status: 429, headers: { 'retry-after': '4' }, json: { error: 'Too many requests' } });
      });
      await say(page, 'And now?');
      await page.getByRole('log').getByText('Heard by it').nth(1).waitFor();
      assert.equal(tries.length, 2);
      assert.ok(tries[1]! - tries[0]! >= 4000, `${tries[1]! - tries[0]!} ms`);
      assertQuiet(watched, [/429/]);
    });
  },
  { OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: model.url },
);
