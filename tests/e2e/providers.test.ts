import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { assertAccessible, assertQuiet, enter, openPage, settle } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import { browserSuite } from './suite.ts';

/** Says what it was told. */
const model: StandIn = await createStandIn((request, response) => {
  const messages = (request.body['messages'] ?? []) as { role: string; content: string }[];
  replyChat(request, response, { content: `Heard: ${messages.findLast(({ role }) => role === 'user')?.content}` });
});

browserSuite(
  'providers of models, in the browser',
  (stage) => {
    let watched: WatchedPage;
    let agentId = '';
    before(async () => {
      const { call } = await signedInCaller(stage.platform, stage.platform.owner);
      const given = { name: 'Ada', model: 'openai/gpt-4o-mini' };
      agentId = (await call<{ agent: { id: string } }>('POST', '/api/agents/provision', given)).agent.id;
      watched = await openPage(stage.browser, stage.platform.url);
      await enter(watched.page, stage.platform.owner);
    });
    after(async () => {
      await watched?.context.close();
      await model.close();
    });

    test('an administrator adds a provider, tries it, uses it and removes it, without a restart', async () => {
      const { page } = watched;
      await settle(page, '/dashboard/admin?tab=providers');
      await page.getByRole('button', { name: 'Add a provider' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Kind').selectOption('compatible');
      // As people write names: it is the first part of what its models are called.
      await dialog.getByLabel('Name').pressSequentially('My Own');
      assert.equal(await dialog.getByLabel('Name').inputValue(), 'my-own');
      await dialog.getByLabel('Name').fill('mine');
      await dialog.getByLabel('Address').fill(model.url);
      await dialog.getByLabel('Key').fill('sk-of-mine');
      await dialog.getByRole('button', { name: 'Test' }).click();
      await dialog.getByText(/^It works\. 1 model\./).waitFor();
      await assertAccessible(page, 'adding a provider');
      await dialog.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByRole('button', { name: 'Remove mine' }).waitFor();
      await settle(page, `/dashboard/agents/${agentId}?tab=chat`);
      await page.getByRole('button', { name: /^Model: / }).click();
      await page.getByLabel('Search models').fill('mine listed');
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /listed-model/ })
        .click();
      await page.getByLabel('Message').fill('Through mine');
      await page.getByLabel('Message').press('Enter');
      await page.getByRole('log').getByText('Heard: Through mine').waitFor();
      assert.equal(
        model.requests.findLast(({ path }) => path.endsWith('/completions'))?.headers.authorization,
        'Bearer sk-of-mine',
      );
      await settle(page, '/dashboard/admin?tab=providers');
      await page.getByRole('button', { name: 'Remove mine' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
      await page.getByRole('button', { name: 'Remove mine' }).first().waitFor({ state: 'detached' });
      assertQuiet(watched);
    });
  },
  { OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: model.url },
);
