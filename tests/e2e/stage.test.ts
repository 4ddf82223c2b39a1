import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { assertAccessible, assertQuiet, enter, openPage, settle, soon } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import type { Caller } from './content.ts';
import { browserSuite } from './suite.ts';

/** Answers when the test says so. */
const gate = Promise.withResolvers<void>();
const model: StandIn = await createStandIn(async (request, response) => {
  const messages = request.body['messages'] as { content: string }[] | undefined;
  if (messages?.at(-1)?.content === 'Wander off') return request.aborted;
  await gate.promise;
  replyChat(request, response, { content: 'Done.', usage: { prompt_tokens: 50_000, completion_tokens: 10_000 } });
});

browserSuite(
  'the stage, in the browser',
  (stage) => {
    let watched: WatchedPage;
    let caller: Caller;
    let agentId = '';
    before(async () => {
      caller = await signedInCaller(stage.platform, stage.platform.owner);
      const { agent } = await caller.call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
        name: 'Scout',
        model: 'xiaomi/mimo-v2-pro',
        config: { tools: [] },
      });
      agentId = agent.id;
      watched = await openPage(stage.browser, stage.platform.url);
      await enter(watched.page, stage.platform.owner);
    });
    after(async () => {
      gate.resolve();
      await watched?.context.close();
      await model.close();
    });

    test('an agent that begins to work is seen at work, watched, and seen ready when it is done', async () => {
      const { page } = watched;
      await settle(page, '/dashboard');
      await page.getByText('1 ready · $0.00 today').waitFor();
      await caller.call('POST', `/api/agents/${agentId}/messages`, { message: 'Plan the tour' });
      await page.getByText('1 working · $0.00 today').waitFor();
      await assertAccessible(page, 'the stage with somebody at work');
      await page.getByRole('link', { name: 'Watch Scout' }).click();
      await page.getByRole('log').getByText('Plan the tour').waitFor();
      await page.goBack();
      await page.getByRole('link', { name: 'Watch Scout' }).waitFor();
      gate.resolve();
      await page.getByText(/^1 ready · \$0\.\d+ today$/).waitFor();
      await page.getByText(/^1 ready · \$0\.0[1-9]/).waitFor();
      assertQuiet(watched);
    });

    test('a sentence becomes a plan to look at, and what it says is made only when somebody agrees', async () => {
      const { page } = watched;
      await page.getByRole('textbox', { name: 'Say what should be done' }).fill('every Monday at 9 read example.com');
      await page.keyboard.press('Enter');
      await page.getByText('no plan that can be used').waitFor();
      await page.getByRole('button', { name: 'Have it read by rules' }).click();
      await page.getByText('Made by rules').waitFor();
      await page.getByText('every Monday at 09:00 (UTC)').waitFor();
      await page.getByText('Change something').click();
      await assertAccessible(page, 'a plan to look at');
      await page.getByLabel('Name', { exact: true }).fill('Monday reader');
      await page.reload();
      await page.getByText(/^About \$/).waitFor();
      const made = page.waitForResponse((response) => response.url().endsWith('/api/say/make'));
      const before = await caller.call<{ count: number }>('GET', '/api/agents');
      await page.getByRole('button', { name: 'Make it' }).click();
      await made;
      await page.getByRole('heading', { name: 'Monday reader' }).waitFor();
      const { tasks } = await caller.call<{ tasks: { cronSchedule: string }[] }>('GET', '/api/scheduled-tasks');
      const { count } = await caller.call<{ count: number }>('GET', '/api/agents');
      assert.deepEqual([before.count, count, tasks.map((task) => task.cronSchedule)], [1, 2, ['0 9 * * 1']]);
    });

    test('of two agents it says what each said last, and what it does next', async () => {
      const { page } = watched;
      await settle(page, '/dashboard');
      const card = (name: string) =>
        page.getByRole('listitem').filter({ has: page.getByRole('link', { name, exact: true }) });
      await card('Scout').getByText('Done.').waitFor();
      await card('Monday reader')
        .getByText(/^Next: .*, in \d+ (hours|days)$/)
        .waitFor();
      await assertAccessible(page, 'the stage with two agents');
      // What needs somebody is read and reached before everything else.
      await page.setViewportSize({ width: 390, height: 844 });
      const top = async (name: string) => (await page.getByRole('heading', { name }).boundingBox())!.y;
      assert.ok((await top('Needs your attention')) < (await top('At this moment')));
      await page.setViewportSize({ width: 1280, height: 860 });
      assertQuiet(watched, [/502/]);
    });

    test('while nothing is heard of them the dots are hollow', async () => {
      const { page } = watched;
      await settle(page, '/dashboard');
      const shadow = `getComputedStyle(document.querySelector('[data-dot]')).boxShadow`;
      const isHollow = async () => (await page.evaluate<string>(shadow)).includes('1.5px');
      await page.locator('[data-dot]').first().waitFor();
      assert.equal(await isHollow(), false);
      // A browser that is set offline goes on hearing a stream that is open.
      await stage.platform.kill();
      await page.getByText(/^No connection since/).waitFor();
      assert.equal(await isHollow(), true);
      await stage.platform.revive();
      await soon(async () => assert.equal(await isHollow(), false));
      assertQuiet(watched, [/net::ERR_|Failed to load resource|502/]);
    });

    test('who is at work is taken over: it stops, and a person goes on in its conversation', async () => {
      const { page } = watched;
      await settle(page, '/dashboard');
      await caller.call('POST', `/api/agents/${agentId}/messages`, { message: 'Wander off' });
      await page.getByRole('button', { name: 'Take over from Scout' }).click();
      await page.getByRole('log').getByText('Wander off').waitFor();
      await page.getByText('Scout has stopped. What should it do instead?').waitFor();
      await page.getByLabel('Message', { exact: true }).fill('Come back');
      await page.keyboard.press('Enter');
      await page.getByRole('log').getByText('Come back').first().waitFor();
      await page.getByRole('log').getByText('Done.').nth(1).waitFor();
    });

    test('two models answer the same side by side, and one of the conversations goes on', async () => {
      const { page } = watched;
      await settle(page, '/dashboard/compare');
      await page.getByLabel('What do you ask them?').fill('Which is better?');
      await page.getByRole('button', { name: 'Ask all of them' }).click();
      await page
        .getByText(/^Done$/)
        .nth(1)
        .waitFor();
      await assertAccessible(page, 'two answers side by side');
      await page.getByRole('button', { name: 'Go on with this one: answer 2' }).click();
      await page.getByRole('log').getByText('Which is better?').waitFor();
      assertQuiet(watched, [/502/]);
    });
  },
  { OPENROUTER_API_KEY: 'or-key', OPENROUTER_BASE_URL: model.url },
);
