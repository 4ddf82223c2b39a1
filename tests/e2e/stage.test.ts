import { after, before, test } from 'node:test';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { assertAccessible, assertQuiet, openPage, settle, signIn } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import type { Caller } from './content.ts';
import { browserSuite } from './suite.ts';

/** Answers when the test says so. */
const gate = Promise.withResolvers<void>();
const model: StandIn = await createStandIn(async (request, response) => {
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
      await signIn(watched.page, stage.platform.owner);
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
  },
  { OPENROUTER_API_KEY: 'or-key', OPENROUTER_BASE_URL: model.url },
);
