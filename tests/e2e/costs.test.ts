import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { assertAccessible, assertQuiet, enter, openPage, settle } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import type { Caller } from './content.ts';
import { browserSuite } from './suite.ts';

const model: StandIn = await createStandIn((request, response) =>
  replyChat(request, response, { content: 'Done.', usage: { prompt_tokens: 50_000, completion_tokens: 10_000 } }),
);

browserSuite(
  'what it costs, in the browser',
  (stage) => {
    let watched: WatchedPage;
    let caller: Caller;
    const ids: Record<string, string> = {};
    const say = (name: string) => caller.call('POST', '/api/chat', { agentId: ids[name], message: 'Go on' });
    before(async () => {
      caller = await signedInCaller(stage.platform, stage.platform.owner);
      for (const name of ['Scout', 'Desk']) {
        const { agent } = await caller.call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
          name,
          model: 'xiaomi/mimo-v2-pro',
          config: { tools: [] },
        });
        ids[name] = agent.id;
      }
      watched = await openPage(stage.browser, stage.platform.url);
      await enter(watched.page, stage.platform.owner);
    });
    after(async () => {
      await watched?.context.close();
      await model.close();
    });

    test('a page that is open shows what was just spent, without asking again and again', async () => {
      const { page } = watched;
      await settle(page, '/dashboard/cost');
      await page.getByText('Nothing was used in this period').first().waitFor();
      const asked: string[] = [];
      page.on('request', (request) => {
        if (request.url().includes('/api/costs')) asked.push(request.url());
      });
      await say('Scout');
      await page.getByRole('button', { name: 'Scout' }).waitFor();
      await say('Desk');
      await page.getByRole('button', { name: 'Desk' }).waitFor();
      // Two changes: each is read once, in two questions.
      assert.ok(asked.length <= 12, String(asked));
      assertQuiet(watched);
    });

    test('it is told by agent, team, task, key and model; choosing one shows its days; CSV has the same', async () => {
      const { page } = watched;
      await page.getByRole('button', { name: 'Scout' }).click();
      await page.waitForURL(/id=/);
      await page.getByRole('heading', { name: 'Cost a day: Scout' }).waitFor();
      await page
        .getByRole('cell', { name: /^\$0\.\d+ of \$0\.\d+$/ })
        .first()
        .waitFor();
      await page.getByRole('button', { name: 'Show all' }).click();
      for (const [side, row] of [
        ['Team', 'In no team'],
        ['Task', 'For no task'],
        ['Key', 'Without a key'],
        ['Model', /MiMo/],
      ] as const) {
        await page.getByRole('group', { name: 'Spent by' }).getByRole('button', { name: side }).click();
        await page.getByRole('button', { name: row }).waitFor();
      }
      const downloads = page.waitForEvent('download');
      await page.getByRole('link', { name: 'CSV' }).click();
      const file = await downloads;
      assert.match(file.suggestedFilename(), /^cost-by-model-.*\.csv$/);
      const lines = (await readFile(await file.path(), 'utf8')).trim().split('\r\n');
      assert.match(lines[1] ?? '', /"xiaomi\/mimo-v2-pro",.*,2,100000,20000,/);
      await assertAccessible(page, 'cost by model');
      assertQuiet(watched);
    });

    test('a period of one’s own is kept in the address', async () => {
      const { page } = watched;
      await page.getByRole('button', { name: 'Last month' }).click();
      await page.getByText('Nothing was used in this period').first().waitFor();
      await page.getByRole('button', { name: 'Own' }).click();
      await page.getByLabel('To', { exact: true }).fill(new Date().toISOString().slice(0, 10));
      await page.getByRole('button', { name: /MiMo/ }).waitFor();
      await page.reload();
      await page.getByRole('button', { name: /MiMo/ }).waitFor();
      await page.getByLabel('From', { exact: true }).waitFor();
      assertQuiet(watched);
    });

    test('an administrator sees everybody’s, by user first', async () => {
      const { page } = watched;
      await page.getByRole('button', { name: 'Everybody' }).click();
      await page.getByRole('button', { name: stage.platform.owner.email }).waitFor();
      await assertAccessible(page, 'cost of everybody');
      await page.getByRole('button', { name: 'Mine' }).click();
      assertQuiet(watched);
    });

    test('a cap says what happens, and is changed where it stands', async () => {
      const { page } = watched;
      await page.getByLabel('At most, in USD').fill('7.50');
      await page.getByRole('button', { name: 'Set cap' }).click();
      await page.getByText(/At 80 % you are told\. At 100 % calls are refused before they are made\./).waitFor();
      await page.getByRole('button', { name: /^Change All of your agents together/ }).click();
      await page.getByLabel('New limit in USD').fill('9');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText(/ of \$9\.00/).waitFor();
      assertQuiet(watched);
    });

    test('an agent has a cap of its own, set on its page, which says what happens then', async () => {
      const { page } = watched;
      const { agents } = await caller.call<{ agents: { id: string; name: string }[] }>('GET', '/api/agents');
      const { id } = agents[0]!;
      await settle(page, `/dashboard/agents/${id}?tab=settings`);
      await page.getByRole('button', { name: 'What it may spend' }).click();
      await page.getByText('No cap of its own.').waitFor();
      // Less than it has cost already.
      await page.getByLabel('At most, in USD').fill('0.01');
      await page.getByRole('button', { name: 'Set cap' }).click();
      await page.getByText(/^Over \$0\.01 by \$0\.\d+; calls are refused$/).waitFor();
      await page.getByText(/^It starts anew in .*\. Until then its calls go on only if you raise the cap\.$/).waitFor();
      await assertAccessible(page, 'an agent over its cap');
      await page.getByLabel('At most, in USD').fill('5');
      await page.getByRole('button', { name: 'Set cap' }).click();
      await page.getByRole('meter', { name: 'a month' }).waitFor();
      await page.getByText(/^\$[\d.]+ of \$5\.00$/).waitFor();
      await page.getByText(/^At 80 % you are told\. At 100 % its calls are refused before they are made/).waitFor();
      await assertAccessible(page, 'what an agent may spend');
      await page.getByRole('button', { name: 'Remove the cap a month' }).click();
      await page.getByText('No cap of its own.').waitFor();
      assertQuiet(watched);
    });
  },
  { OPENROUTER_API_KEY: 'or-key', OPENROUTER_BASE_URL: model.url },
);
