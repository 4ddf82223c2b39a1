import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, assertQuiet, openPage } from './browser.ts';
import { browserSuite } from './suite.ts';

/** /docs is no page of the dashboard: plain HTML that follows the system's theme. */
browserSuite('the API reference', (stage) => {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`is accessible, quiet and fits a phone, ${colorScheme}`, async () => {
      const watched = await openPage(stage.browser, stage.platform.url, {
        colorScheme,
        viewport: { width: 360, height: 740 },
      });
      const { page } = watched;
      await page.goto('/docs');
      await page.getByRole('heading', { name: 'API reference' }).waitFor();
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      assert.ok(width <= 360, `${width} pixels wide on a phone`);
      await assertAccessible(page, `reference, ${colorScheme}`);
      assertQuiet(watched);
      await page.context().close();
    });
  }
});
