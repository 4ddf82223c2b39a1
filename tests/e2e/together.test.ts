import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { assertAccessible, assertQuiet, enter, openPage, settle, soon } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import type { Caller } from './content.ts';
import { browserSuite } from './suite.ts';

interface Spoken {
  role: string;
  content: string | null;
}

const usage = { prompt_tokens: 5000, completion_tokens: 1000 };

/** Writes the file that it is told to, asks when it is told to ask, and says what it heard otherwise. */
const model: StandIn = await createStandIn((request, response) => {
  const messages = (request.body['messages'] ?? []) as Spoken[];
  const text = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const call = (name: string, args: object) =>
    replyChat(request, response, {
      content: null,
      toolCalls: [{ id: `call_${name}`, name, arguments: JSON.stringify(args) }],
      usage,
    });
  const path = /\bwrite (\S+\.md)/i.exec(text)?.[1];
  const hasResult = messages.at(-1)?.role === 'tool';
  if (path !== undefined && !hasResult) return call('write_file', { path, content: `# ${path}` });
  if (text.includes('ask me') && !hasResult) return call('user_prompt', { message: `Shall I go on with ${text}?` });
  replyChat(request, response, { content: `**Done** with it: ${messages.at(-1)?.content ?? ''}`, usage });
});

browserSuite(
  'several things together',
  (stage) => {
    let watched: WatchedPage;
    let call: Caller['call'];
    let agentId = '';
    before(async () => {
      ({ call } = await signedInCaller(stage.platform, stage.platform.owner));
      const made = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
        name: 'Scout',
        model: 'xiaomi/mimo-v2-pro',
        config: {
          instruction: 'You write.',
          tools: ['filesystem', 'user_prompt'],
          safety: { approvals: { filesystem: 'ask' } },
        },
      });
      agentId = made.agent.id;
      watched = await openPage(stage.browser, stage.platform.url);
      await enter(watched.page, stage.platform.owner);
    });
    after(async () => {
      await watched?.context.close();
      await model.close();
    });
    const tell = (message: string) =>
      call<{ sessionId: string }>('POST', `/api/agents/${agentId}/messages`, { message, topic: message });

    test('the inbox is worked through several at a time, by the keyboard alone, and undone together', async () => {
      const { page } = watched;
      for (const name of ['a', 'b', 'c', 'd', 'e']) await tell(`Please write ${name}.md`);
      await settle(page, '/dashboard/inbox');
      const cards = page.locator('li').filter({ hasText: /\.md/ });
      await soon(async () => assert.equal(await cards.count(), 5));
      await page.keyboard.press('x');
      await page.keyboard.press('j');
      await page.keyboard.press('x');
      const bar = page.getByRole('region', { name: 'Several at once' });
      await bar.getByText('2 chosen').waitFor();
      await assertAccessible(page, 'several of the inbox');
      await page.keyboard.press('a');
      await soon(async () => assert.equal(await cards.count(), 3));
      assert.equal(await bar.count(), 0);
      await soon(async () => {
        const { entries } = await call<{ entries: { name: string }[] }>('GET', `/api/agents/${agentId}/files`);
        assert.equal(entries.length, 2);
      });

      // Put off together they come back together.
      await page.keyboard.press('X');
      await bar.getByText('3 chosen').waitFor();
      await page.keyboard.press('s');
      await page.getByRole('button', { name: 'In an hour' }).press('Enter');
      await page.getByText('Nothing waits for you').waitFor();
      await page.keyboard.press('u');
      await soon(async () => assert.equal(await cards.count(), 3));

      // What is unlike can be refused together, and not allowed.
      await tell('Please ask me something');
      await soon(async () => assert.equal(await page.locator('li').filter({ hasText: 'Shall I go on' }).count(), 1));
      for (const box of await page.getByRole('checkbox', { name: /^Choose: / }).all()) await box.check();
      await bar.getByText('4 chosen').waitFor();
      assert.equal(await bar.getByRole('button', { name: 'Allow these 4' }).isDisabled(), true);
      await bar.getByText(/^Only what is alike can be allowed together/).waitFor();
      await page.keyboard.press('r');
      await page.getByText('Nothing waits for you').waitFor();
      assertQuiet(watched);
    });

    test('several questions get one answer', async () => {
      const { page } = watched;
      for (const what of ['tea', 'cake']) await tell(`Please ask me about ${what}`);
      await settle(page, '/dashboard/inbox');
      await page.getByText('Shall I go on with Please ask me about tea?', { exact: true }).waitFor();
      await page.getByText('Shall I go on with Please ask me about cake?', { exact: true }).waitFor();
      await page.keyboard.press('X');
      await page.keyboard.press('a');
      await page.getByLabel('Your answer to all of them').fill('Yes, both');
      await assertAccessible(page, 'one answer to several questions');
      await page.getByRole('button', { name: 'Send it to all' }).press('Enter');
      await page.getByText('Nothing waits for you').waitFor();
      await page.getByRole('tab', { name: 'Done' }).click();
      await soon(async () => assert.equal(await page.getByText(/^Answered\. Scout: /).count(), 2));
      assertQuiet(watched);
    });

    test('the files of a conversation stand beside the talk, and on a small screen behind a button', async () => {
      const { page } = watched;
      const { sessionId } = await tell('Please write reports/plan.md');
      await page.setViewportSize({ width: 1680, height: 900 });
      await settle(page, `/dashboard/agents/${agentId}?tab=chat&c=${sessionId}`);
      const beside = page.getByRole('complementary', { name: 'Files of this conversation' });
      await beside.getByText(/^No files yet/).waitFor();
      await page.getByRole('log').getByRole('button', { name: 'Allow once' }).click();
      await beside.getByRole('button', { name: /plan\.md/ }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('heading', { name: 'plan.md', exact: true }).waitFor();
      await page.keyboard.press('Escape');
      await assertAccessible(page, 'the files of a conversation');
      await page.setViewportSize({ width: 390, height: 844 });
      await beside.waitFor({ state: 'hidden' });
      await page.getByRole('button', { name: '1 file' }).click();
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /plan\.md/ })
        .waitFor();
      await page.keyboard.press('Escape');
      await page.setViewportSize({ width: 1280, height: 800 });
      const listed = await call<{ files: { path: string }[] }>(
        'GET',
        `/api/agents/${agentId}/sessions/${sessionId}/files`,
      );
      assert.deepEqual(
        listed.files.map(({ path }) => path),
        ['reports/plan.md'],
      );
      assertQuiet(watched);
    });

    test('what a sentence would make is tried once before it is made', async () => {
      const { page } = watched;
      await settle(page, '/dashboard/say');
      await page.getByLabel('What should be done?').fill('each morning at 8 write news.md');
      await page.getByRole('button', { name: 'Read it' }).click();
      await page.getByRole('button', { name: 'Have it read by rules' }).click();
      await page.getByRole('button', { name: /^Try once, about / }).click();
      const tried = page.getByRole('region', { name: 'Tried once' });
      await tried.getByText('Done').waitFor();
      await tried.getByText('What it used').waitFor();
      await assertAccessible(page, 'a plan that was tried');
      const { count } = await call<{ count: number }>('GET', '/api/agents');
      assert.equal(count, 1, 'nothing is made by it');
      await page.getByRole('button', { name: 'Make it' }).click();
      await page.waitForURL(/agents\/[\w-]+/);
      // A model that writes no plan is what the rules are for.
      assertQuiet(watched, [/502 .*\/api\/say\)/]);
    });
  },
  { OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: model.url },
);
