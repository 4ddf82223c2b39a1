import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import type { Page } from 'playwright-core';
import { assertAccessible, assertQuiet, enter, openPage, settle } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import { browserSuite } from './suite.ts';

interface Spoken {
  role: string;
  content: string | null;
}

/** Writes a page when asked to, and says what it was told. */
const model: StandIn = await createStandIn((request, response) => {
  const messages = (request.body['messages'] ?? []) as Spoken[];
  const said = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  if (said.startsWith('Write') && messages.at(-1)?.role !== 'tool') {
    const toolCalls = [
      { id: 'c', name: 'write_file', arguments: '{"path":"site/page.html","content":"<h1>Plan</h1>"}' },
    ];
    return replyChat(request, response, { content: null, toolCalls });
  }
  replyChat(request, response, { content: `Heard: ${said.split('\n')[0]}` });
});

const log = (page: Page) => page.getByRole('log');

browserSuite(
  'forks of a run, in the browser',
  (stage) => {
    let watched: WatchedPage;
    let agentId = '';
    before(async () => {
      const { call } = await signedInCaller(stage.platform, stage.platform.owner);
      const { agent } = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
        name: 'Ada',
        model: 'openai/gpt-4o-mini',
        config: { tools: ['filesystem'] },
      });
      agentId = agent.id;
      await call('POST', '/api/chat', { agentId, message: 'Write the page' });
      watched = await openPage(stage.browser, stage.platform.url);
      await enter(watched.page, stage.platform.owner);
    });
    after(async () => {
      await watched?.context.close();
      await model.close();
    });

    test('a run is looked at step by step, and forked from one with another model', async () => {
      const { page } = watched;
      await settle(page, `/dashboard/agents/${agentId}?tab=chat`);
      const answer = log(page).locator('article', { hasText: 'Heard: Write the page' });
      await answer.hover();
      await answer.getByRole('link', { name: 'Steps' }).click();
      await page.getByRole('heading', { name: 'A run, step by step' }).waitFor();
      const rows = page.getByRole('listitem').getByRole('button', { name: /^(Prompt|Model|Tool) / });
      await rows.nth(3).waitFor();
      assert.equal(await rows.count(), 4);
      await rows.nth(2).click();
      await page.getByText('Step 3 of 4. Looking changes nothing.').waitFor();
      await page.getByText('site/page.html').first().waitFor();
      await assertAccessible(page, 'a run');
      await page.getByRole('button', { name: 'Step before' }).click();
      await page
        .getByText(/gpt-4o|GPT-4o/)
        .first()
        .waitFor();
      await page.getByRole('button', { name: 'Step after' }).click();
      await page.getByRole('button', { name: 'Fork from here' }).click();
      await page.getByLabel('What to say there').fill('Go on differently');
      await page.getByRole('combobox', { name: 'Model' }).selectOption('xiaomi/mimo-v2-pro');
      await page.getByRole('button', { name: 'With another instruction…' }).click();
      await page.getByLabel('Instruction, for this answer').fill('You answer like a pirate.');
      await assertAccessible(page, 'a fork');
      await page.getByRole('dialog').getByRole('button', { name: 'Fork', exact: true }).click();
      await log(page).getByText('Heard: Go on differently').waitFor();
      // It was forked, and not stopped by anybody.
      await log(page).getByText('The branch begins here.').waitFor();
      assert.equal(
        await log(page)
          .getByText(/^Stopped by you/)
          .count(),
        0,
      );
      const last = model.requests.findLast(({ path }) => path.endsWith('/chat/completions'));
      assert.equal(last?.body['model'], 'xiaomi/mimo-v2-pro');
      const [system] = last.body['messages'] as Spoken[];
      assert.match(String(system?.content), /^You answer like a pirate\./);
      assertQuiet(watched);
    });

    test('a fork can begin before the mistake: the question is there again, to be asked of another model', async () => {
      const { page } = watched;
      await page.goBack();
      await page.getByRole('button', { name: 'Fork from here' }).click();
      const dialog = page.getByRole('dialog');
      assert.equal(await dialog.getByLabel('What to say there').inputValue(), '');
      await dialog.getByLabel('Before it: ask the question again').check();
      assert.match(await dialog.getByLabel('What to say there').inputValue(), /^Write the page/);
      await dialog.getByRole('combobox', { name: 'Model' }).selectOption('xiaomi/mimo-v2-pro');
      await dialog.getByRole('button', { name: 'Fork', exact: true }).click();
      await log(page).getByText('Heard: Write the page').first().waitFor();
      await log(page).getByText('Heard: Go on differently').first().waitFor({ state: 'detached' });
      assertQuiet(watched);
    });
  },
  { OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: model.url },
);
