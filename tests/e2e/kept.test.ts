import { before, after, test } from 'node:test';
import { assertQuiet, enter, openPage, settle } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import { browserSuite } from './suite.ts';

/** What an agent keeps and is known by. On a platform of its own: with its conversations it asks faster than one allows. */

browserSuite('what an agent keeps, in the browser', (stage) => {
  let agentId = '';
  let watched: WatchedPage;
  before(async () => {
    const { call } = await signedInCaller(stage.platform, stage.platform.owner);
    const made = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
      name: 'Ada',
      config: { instruction: 'You take notes.', tools: ['filesystem', 'memory'] },
    });
    agentId = made.agent.id;
    watched = await openPage(stage.browser, stage.platform.url);
    await enter(watched.page, stage.platform.owner);
  });
  after(() => watched?.context.close());
  const open = (tab: string) => settle(watched.page, `/dashboard/agents/${agentId}?tab=${tab}`);

  test('memory is added, found, changed and forgotten', async () => {
    const { page } = watched;
    await open('memory');
    for (const [key, value] of [
      ['Colour', 'Green'],
      ['Day', 'Friday'],
    ] as const) {
      await page.getByRole('button', { name: 'Remember' }).first().click();
      const form = page.getByRole('dialog');
      await form.getByLabel('About').fill(key);
      await form.getByLabel('What it remembers').fill(value);
      await form.getByRole('button', { name: /Remember|Save/ }).click();
      await page.getByRole('cell', { name: value }).waitFor();
    }
    await page.getByLabel('Search the memory').fill('frid');
    await page.getByRole('cell', { name: 'Green' }).first().waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /^Edit/ }).click();
    await page.getByRole('dialog').getByLabel('What it remembers').fill('Saturday');
    await page.getByRole('dialog').getByRole('button', { name: /Save/ }).click();
    await page.getByLabel('Search the memory').fill('');
    await page.getByRole('cell', { name: 'Saturday' }).waitFor();
    await page
      .getByRole('row', { name: /Day/ })
      .getByRole('button', { name: /Delete|Forget/ })
      .click();
    await page.getByText('It cannot be brought back').waitFor();
    await page
      .getByRole('alertdialog')
      .getByRole('button', { name: /Delete|Forget/ })
      .click();
    await page.getByRole('cell', { name: 'Saturday' }).first().waitFor({ state: 'detached' });
    assertQuiet(watched);
  });

  test('a backup brings back what was forgotten, and says what it replaces', async () => {
    const { page } = watched;
    await open('backups');
    await page.getByRole('button', { name: 'Back up now' }).click();
    await page.getByRole('cell', { name: 'by hand' }).waitFor();
    const { call } = await signedInCaller(stage.platform, stage.platform.owner);
    await call('POST', '/api/memory', { agentId, key: 'Colour', memory: 'Red' });

    await page.getByRole('button', { name: /^Restore the backup/ }).click();
    const ask = page.getByRole('alertdialog');
    await ask.getByText('memory, conversations, files, instruction and configuration').waitFor();
    await ask.getByText('A backup of what it is now is made first').waitFor();
    await ask.getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('cell', { name: 'before a restore' }).waitFor();
    await open('memory');
    await page.getByRole('cell', { name: 'Green' }).waitFor();

    await open('backups');
    await page
      .getByRole('button', { name: /^Delete the backup/ })
      .first()
      .click();
    await page.getByText('gone for good').waitFor();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Backup deleted').waitFor();
    assertQuiet(watched);
  });

  test('an agent is marked as verified, and not any more', async () => {
    const { page } = watched;
    await open('manage');
    await page.getByLabel('Kind of proof').selectOption('ens');
    await page.getByLabel('Verifier’s address').fill(`0x${'ab'.repeat(20)}`);
    await page.getByRole('button', { name: 'Mark as verified' }).click();
    await page.getByText('verified', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Remove verification' }).click();
    await page.getByText('You can verify it again').waitFor();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove verification' }).click();
    await page.getByRole('button', { name: 'Mark as verified' }).waitFor();
    await page.getByText('verified', { exact: true }).first().waitFor({ state: 'detached' });
    assertQuiet(watched);
  });
});
