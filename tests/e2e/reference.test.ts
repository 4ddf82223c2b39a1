import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertAccessible, assertQuiet, openPage, type WatchedPage } from './browser.ts';
import { browserSuite } from './suite.ts';

/** /docs is no page of the dashboard: plain HTML that follows the system's theme. */
browserSuite('the API reference', (stage) => {
  let watched: WatchedPage;
  before(async () => {
    const options = { colorScheme: 'light', viewport: { width: 360, height: 740 } } as const;
    watched = await openPage(stage.browser, stage.platform.url, options);
    await watched.page.goto('/docs');
    await watched.page.getByRole('heading', { name: 'API reference' }).waitFor();
  });

  test('is accessible, quiet and fits a phone, light', async () => {
    const { page } = watched;
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    assert.ok(width <= 360, `${width} pixels wide on a phone`);
    await assertAccessible(page, 'reference, light');
    assertQuiet(watched);
  });

  test('has the colours of the dark theme where that is wanted, and can be read', async () => {
    const { page } = watched;
    const colour = () => page.evaluate<string>('getComputedStyle(document.body).color');
    const light = await colour();
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.notEqual(await colour(), light);
    await assertAccessible(page, 'reference, dark', 'colours');
    assertQuiet(watched);
  });
});
