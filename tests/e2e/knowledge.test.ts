import assert from 'node:assert/strict';
import { test } from 'node:test';
import { docx } from '@troupe/testing/documents/documents';
import { assertAccessible, assertQuiet, enter, openPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import { browserSuite } from './suite.ts';

browserSuite('knowledge', (stage) => {
  test('a collection is made, a file and a text are read, found, opened by their link, and given to an agent', async () => {
    const { platform, browser } = stage;
    const { call } = await signedInCaller(platform, platform.owner);
    const { agent } = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
      name: 'Harbourmaster',
      model: 'sandbox/echo',
    });
    const watched = await openPage(browser, platform.url);
    const { page } = watched;
    await enter(page, platform.owner);

    await page.goto('/dashboard/knowledge');
    await page.getByLabel('Name').fill('Harbour rules');
    await page.getByLabel('What is in it').fill('Fees and hours');
    await page.getByRole('button', { name: 'Make a collection' }).click();
    await page.getByRole('link', { name: 'Harbour rules' }).click();
    await page.getByRole('heading', { name: 'Harbour rules' }).waitFor();
    await page.getByLabel('Choose files', { exact: true }).setInputFiles([
      {
        name: 'rules.docx',
        mimeType: 'application/octet-stream',
        buffer: docx(
          ['Fees', 'Heading1'],
          'Small boats pay five crowns a night.',
          ['Hours', 'Heading1'],
          'Open from May on.',
        ),
      },
      { name: 'locked.pdf', mimeType: 'application/pdf', buffer: Buffer.from('no PDF at all') },
    ]);
    // The states change by themselves.
    await page.getByText('docx, 2 passages').waitFor();
    await page.getByText('The name says a PDF, and the file is text.').waitFor();
    await assertAccessible(page, 'a collection');

    await page.getByLabel('Words or a question').fill('what does a small boat pay?');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByRole('link', { name: 'rules.docx, Fees' }).click();
    await page.getByText('Small boats pay five crowns a night.').waitFor();
    await page.getByText('Open from May on.').waitFor();
    assert.match(page.url(), /\/dashboard\/knowledge\?passage=[\w-]+\.0$/);
    await assertAccessible(page, 'a passage');

    await page.goBack();
    await page.getByRole('button', { name: 'Delete locked.pdf' }).click();
    const ask = page.getByRole('alertdialog', { name: 'Delete locked.pdf?' });
    await ask.getByText('gone for good').waitFor();
    await ask.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('locked.pdf').first().waitFor();
    await page.getByRole('button', { name: 'Delete locked.pdf' }).click();
    await ask.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('locked.pdf').first().waitFor({ state: 'detached' });

    await page.goto(`/dashboard/agents/${agent.id}/settings/knowledge`);
    await page.getByRole('checkbox', { name: 'Harbour rules' }).click();
    await page.getByText('It may search Harbour rules now').waitFor();
    await page.goto('/dashboard/knowledge');
    await page.getByRole('cell', { name: 'Harbourmaster' }).waitFor();
    await assertAccessible(page, 'the collections');
    assertQuiet(watched);
  });
});
