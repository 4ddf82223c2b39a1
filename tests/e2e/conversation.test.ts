import { before, after, test } from 'node:test';
import { assertQuiet, enter, openPage, say, settle } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import { createNotesModel } from './notes-model.ts';
import { browserSuite } from './suite.ts';

const model = await createNotesModel();
const env = { OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: model.url };

browserSuite(
  'an agent at work, in the browser',
  (stage) => {
    let agentId = '';
    let watched: WatchedPage;
    before(async () => {
      const { call } = await signedInCaller(stage.platform, stage.platform.owner);
      const made = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
        name: 'Ada',
        model: 'xiaomi/mimo-v2-pro',
        config: { instruction: 'You take notes.', tools: ['filesystem', 'memory', 'user_prompt'] },
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

    test('a tool that asks first is shown, allowed, and refused', async () => {
      const { page } = watched;
      await open('config');
      await page.getByRole('combobox', { name: 'Files' }).selectOption('ask');
      await page.getByRole('button', { name: 'Save configuration' }).click();
      await page.getByText(/saved/i).first().waitFor();

      await open('chat');
      const log = page.getByRole('log');
      await say(page, 'Make a note');
      const card = log.getByRole('group', { name: 'Wants to write note.txt' });
      await card.getByText('Hello').waitFor();
      await log.getByText('waits for you').waitFor();
      await log.getByText('Write note.txt').first().click();
      await log.getByText('write_file', { exact: true }).first().waitFor();
      await log.getByText('"note.txt"').waitFor();
      await log.getByRole('button', { name: 'Allow' }).click();
      await log.locator('strong', { hasText: 'Done.' }).waitFor();
      await log.getByText('done', { exact: true }).waitFor();

      await say(page, 'Another note, please');
      await log.getByRole('button', { name: 'Refuse' }).click();
      await log.getByText('refused', { exact: true }).waitFor();
      await log.locator('strong', { hasText: 'Done.' }).nth(1).waitFor();
      assertQuiet(watched);
    });

    test('an answer that takes too long is stopped', async () => {
      const { page } = watched;
      await open('chat');
      await say(page, 'Please wait for me');
      await page.getByText('Working…').waitFor();
      await page.getByRole('button', { name: 'Stop', exact: true }).click();
      await page.getByRole('button', { name: 'Send' }).waitFor();
      await page
        .getByRole('log')
        .getByText(/^Stopped by you\. \$0\.0/)
        .waitFor();
      assertQuiet(watched);
    });

    test('a conversation leads from the work of its agent to its newest run, step by step, with what each cost', async () => {
      const { page } = watched;
      await open('sessions');
      const table = page.getByRole('table', { name: 'Conversations' });
      const isNewest = async () => {
        await page.getByRole('button', { name: /^Prompt/ }).click();
        await page.getByText('Please wait for me').first().waitFor();
      };
      // By what it is about.
      await table.getByRole('link', { name: 'Make a note' }).click();
      await page.waitForURL(/\/dashboard\/runs\/[\w-]{22}~[\w-]{22}~\d+$/);
      await isNewest();
      await open('sessions');
      await table.getByRole('link', { name: 'Make a note' }).waitFor();
      await open('work');
      await page.getByRole('list', { name: 'Timeline' }).getByRole('link', { name: 'Make a note' }).click();
      await isNewest();
      await open('work');
      const timeline = page.getByRole('list', { name: 'Timeline' });
      await timeline.getByText('Waits for your decision about writing a file.').first().waitFor();
      await open('logs');
      await page
        .getByText(/Run done/)
        .first()
        .waitFor();
      assertQuiet(watched);
    });

    test('a question is answered where it is asked, and in the inbox', async () => {
      const { page } = watched;
      await open('chat');
      const log = page.getByRole('log');
      await say(page, 'Let us paint');
      const card = log.getByRole('group', { name: 'Asks you' });
      await card.getByText('Which colour?').waitFor();
      await card.getByLabel('Your answer').fill('green');
      await card.getByRole('button', { name: 'Answer', exact: true }).click();
      await log.getByText('Done. green').waitFor();

      await say(page, 'Let us paint again');
      await card.getByText('Which colour?').waitFor();
      await settle(page, '/dashboard/inbox');
      await page.getByRole('group', { name: 'Asks you' }).getByRole('button', { name: 'blue' }).click();
      await page.getByText('Answered').first().waitFor();
      await open('chat');
      await log.getByText('Done. blue').waitFor();
      assertQuiet(watched);
    });
  },
  env,
);
