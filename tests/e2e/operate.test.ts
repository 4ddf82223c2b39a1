import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertQuiet, openPage, settle, signIn } from './browser.ts';
import { browserSuite } from './suite.ts';

browserSuite('operations in the browser', (stage) => {
  test('the configuration is changed in the form, shown as a difference, and restored', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    await signIn(page, stage.platform.owner);
    await settle(page, '/dashboard/config');
    const days = page.getByLabel('Days until a memory is forgotten');
    const before = await days.inputValue();
    await days.fill('7');
    await page.getByText('Unsaved changes').click();
    await page.getByText('memory.ttlDays').waitFor();
    await page.getByRole('button', { name: 'Save configuration' }).click();
    await page.getByText('The version before is among the backups').waitFor();

    await page.getByRole('button', { name: 'JSON' }).click();
    await page.getByLabel('JSON').fill('{ not json');
    await page.getByText('This is not valid JSON').waitFor();
    await page.reload();

    await page
      .getByRole('button', { name: /^Compare/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('memory.ttlDays').waitFor();
    await dialog.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('Restored').waitFor();
    await page.reload();
    await page.getByLabel('Days until a memory is forgotten').waitFor();
    assert.equal(await page.getByLabel('Days until a memory is forgotten').inputValue(), before);
    assertQuiet(watched);
    await watched.context.close();
  });
});
