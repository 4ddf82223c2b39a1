import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import type { Page } from 'playwright-core';
import { assertAccessible, assertQuiet, enter, openPage, settle } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller, type Caller } from './content.ts';
import { browserSuite } from './suite.ts';

interface Spoken {
  role: string;
  content: string | null;
}

/** Knows when the harbour opens if its instruction says so; as a lead gives work away, and as a member never ends it. */
const model: StandIn = await createStandIn((request, response) => {
  const messages = (request.body['messages'] ?? []) as Spoken[];
  const instruction = messages[0]?.content ?? '';
  const text = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  if (instruction.includes('You count boats')) return;
  if (text.includes('the boats') && messages.at(-1)?.role !== 'tool') {
    const args = JSON.stringify({ agent: 'counter', task: 'Count all boats of the harbour' });
    const toolCalls = [{ id: 'call_1', name: 'run_background_agent', arguments: args }];
    return replyChat(request, response, { content: null, toolCalls });
  }
  if (messages.at(-1)?.role === 'tool') return replyChat(request, response, { content: 'They are being counted.' });
  replyChat(request, response, { content: instruction.includes('eight') ? 'It opens at eight.' : 'I do not know.' });
});

const TEAM = `
agents:
  root:
    description: leads
    instruction: You lead.
    model: xiaomi/mimo-v2-pro
    sub_agents: [counter]
    toolsets: [{ type: background_agents }]
  counter:
    description: counts
    instruction: You count boats.
    model: xiaomi/mimo-v2-pro
`;

browserSuite(
  'evaluations and work in the background, in the browser',
  (stage) => {
    let call: Caller['call'];
    let watched: WatchedPage;
    let page: Page;
    before(async () => {
      ({ call } = await signedInCaller(stage.platform, stage.platform.owner));
      watched = await openPage(stage.browser, stage.platform.url);
      ({ page } = watched);
      await enter(page, stage.platform.owner);
    });
    after(async () => {
      await watched?.context.close();
      await model.close();
    });

    test('a case is made, fails, holds a change up, and lets in the one that passes', async () => {
      const { agent } = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
        name: 'Ada',
        model: 'xiaomi/mimo-v2-pro',
        config: { instruction: 'You answer questions.', tools: [] },
      });
      const open = (part: string) => settle(page, `/dashboard/agents/${agent.id}/settings/${part}`);
      await open('evaluations');
      await page.getByText('No cases yet').waitFor();
      await page.getByRole('button', { name: 'Add a case' }).click();
      const form = page.getByRole('dialog', { name: 'Add a case' });
      await form.getByLabel('Name').fill('Opening hours');
      await form.getByLabel('What it is told').fill('When does the harbour open?');
      await form.getByLabel('Value').fill('at eight');
      await assertAccessible(page, 'the form of a case');
      await form.getByRole('button', { name: 'Save the case' }).click();
      await page.getByText('Case saved').waitFor();

      await page.getByRole('button', { name: 'Run 1 case' }).click();
      await page.getByText('0 of 1').waitFor();
      await page.getByRole('button', { name: 'Look' }).click();
      const result = page.getByRole('dialog', { name: 'Results' });
      await result.getByText('failed').first().waitFor();
      await result.getByText('Answer', { exact: true }).first().click();
      await result.getByText('I do not know.').waitFor();
      await assertAccessible(page, 'the result of an evaluation');
      await page.keyboard.press('Escape');
      await page.getByLabel('Take changes only when all cases pass').click();
      await page.getByText('Changes wait for the cases from now on').waitFor();

      const change = async (instruction: string): Promise<void> => {
        await open('purpose');
        await page.getByLabel('Instruction').fill(instruction);
        await page.getByRole('button', { name: 'Save what it is for' }).click();
        await page.getByRole('button', { name: 'Try the cases, then save' }).click();
      };
      const now = async (): Promise<string> =>
        (await call<{ instruction: string }>('GET', `/api/agents/${agent.id}/purpose`)).instruction;
      await change('You answer in one word.');
      await page.getByText('Not saved: not all cases passed.').waitFor();
      assert.equal(await now(), 'You answer questions.');
      await page.getByRole('link', { name: 'See the results' }).click();
      await page.getByText('a change').first().waitFor();
      await change('The harbour opens at eight.');
      await page.getByText('Saved. The agent goes by it from its next step on.').waitFor();
      assert.equal(await now(), 'The harbour opens at eight.');
      assertQuiet(watched, [/409.*\/purpose/]);
    });

    test('a run shows what it gave away as a branch, which is opened and stopped there', async () => {
      const { agents } = await call<{ agents: { agentId: string; container: string }[] }>(
        'POST',
        '/api/provision/team',
        {
          plan: 'network',
          yaml_config: TEAM,
        },
      );
      const lead = agents.find(({ container }) => container.endsWith('/root'))!.agentId;
      await call('POST', '/api/chat', { agentId: lead, message: 'Please have the boats counted' });
      await settle(page, `/dashboard/agents/${lead}?tab=chat`);
      const answer = page.getByRole('log').locator('article', { hasText: 'They are being counted.' });
      await answer.hover();
      await answer.getByRole('link', { name: 'Steps' }).click();
      await page.getByRole('heading', { name: 'A run, step by step' }).waitFor();
      await page.getByRole('button', { name: /^In the background counter/ }).click();
      await page.getByText('counter: goes on').waitFor();
      await page.getByText('Count all boats of the harbour').first().waitFor();
      await assertAccessible(page, 'a branch of a run');
      await page.getByRole('button', { name: 'Stop', exact: true }).click();
      await page.getByText('counter: stopped').waitFor();
      await page.getByRole('link', { name: 'Open it there' }).click();
      await page.getByRole('heading', { name: 'A run, step by step' }).waitFor();
      await page.getByText('Count all boats of the harbour').first().waitFor();
      assertQuiet(watched);
    });
  },
  { OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: model.url },
);
