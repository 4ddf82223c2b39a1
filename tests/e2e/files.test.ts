import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pdf, zip } from '@troupe/testing/documents/documents';
import { assertAccessible, assertQuiet, enter, openPage, settle } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import { browserSuite } from './suite.ts';

browserSuite('files in the browser', (stage) => {
  let watched: WatchedPage;
  let page: WatchedPage['page'];
  let agentId = '';
  before(async () => {
    const { call } = await signedInCaller(stage.platform, stage.platform.owner);
    agentId = (await call<{ agent: { id: string } }>('POST', '/api/agents/provision', { name: 'Ada' })).agent.id;
    watched = await openPage(stage.browser, stage.platform.url);
    page = watched.page;
    await enter(page, stage.platform.owner);
  });
  after(() => watched?.context.close());

  test('a PDF is read page by page and an archive by its names, and neither runs anything', async () => {
    await settle(page, `/dashboard/agents/${agentId}?tab=files`);
    await page.getByLabel('Upload', { exact: true }).setInputFiles([
      { name: 'plan.pdf', mimeType: 'application/pdf', buffer: pdf(['Berlin on 5 May', 'Köln']) },
      { name: 'site.zip', mimeType: 'application/zip', buffer: zip({ 'a/page.html': '<script>x</script>' }) },
      { name: 'broken.zip', mimeType: 'application/zip', buffer: Buffer.from('PK\x03\x04 and no more') },
    ]);
    await page.getByRole('button', { name: 'broken.zip', exact: true }).waitFor();
    await page.getByRole('button', { name: 'plan.pdf', exact: true }).click();
    await page.getByRole('region', { name: 'Page 2' }).getByText('Köln').waitFor();
    await assertAccessible(page, 'a PDF');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'site.zip', exact: true }).click();
    await page.getByText('1 entry, 18 B unpacked').waitFor();
    await page.getByText('a/page.html').waitFor();
    await assertAccessible(page, 'an archive');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'broken.zip', exact: true }).click();
    await page.getByText('The archive is damaged. You can download it.').waitFor();
    await page.keyboard.press('Escape');
    assertQuiet(watched);
  });

  test('who is told to slow down sees why, and what is missing comes by itself', async () => {
    let refused = 0;
    await page.route(
      `**/api/agents/${agentId}/files?**`,
      (route) => {
        refused += 1;
        return route.fulfill({
          status: 429,
          headers: { 'retry-after': '2', 'content-type': 'application/json' },
          body: '{"error":"Too many requests"}',
        });
      },
      { times: 1 },
    );
    await page.goto(`/dashboard/agents/${agentId}?tab=files`);
    await page.getByText('You are faster than the platform allows.').waitFor();
    await page.getByRole('button', { name: 'plan.pdf', exact: true }).waitFor();
    await page.getByText('You are faster than the platform allows.').first().waitFor({ state: 'detached' });
    assert.equal(refused, 1);
    assertQuiet(watched, [/status of 429/]);
  });
});
