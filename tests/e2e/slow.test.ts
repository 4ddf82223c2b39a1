import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertQuiet, enter, openPage, settle, soon } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import { browserSuite } from './suite.ts';

browserSuite('slow networks', (stage) => {
  let watched: WatchedPage;
  let page: WatchedPage['page'];
  before(async () => {
    const { call } = await signedInCaller(stage.platform, stage.platform.owner);
    await call('POST', '/api/agents/provision', { name: 'Ada' });
    watched = await openPage(stage.browser, stage.platform.url);
    page = watched.page;
    await enter(page, stage.platform.owner);
  });
  after(() => watched?.context.close());

  test('on a slow network the shape of the page stands there, and never a white one', async () => {
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.goto('/dashboard');
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/api/agents**', async (route) => {
      await held;
      await route.continue();
    });
    await page.goto('/dashboard/agents');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('.skeleton').first().waitFor();
    // Who wants less to move sees the same shapes, and none of them moves.
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await soon(async () => {
      const moving = await page.evaluate<string[]>('document.getAnimations().map((one) => one.animationName)');
      assert.deepEqual(moving, []);
    });
    await page.emulateMedia({ reducedMotion: null });
    assert.ok((await page.evaluate<number>('document.getAnimations().length')) > 0, 'it moves otherwise');
    release();
    await page.getByText('Ada').first().waitFor();
    await soon(async () => assert.equal(await page.locator('.skeleton').count(), 0));
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    assertQuiet(watched);
  });

  test('the overview shows each part as it comes, and those that are there stay where they are', async () => {
    await settle(page, '/dashboard');
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const late = /\/api\/(?:dashboard\/cost|tasks|stage|daily-brief)/;
    await page.route(late, async (route) => {
      await held;
      await route.continue();
    });
    await page.reload();
    const figures = page.locator('#content dl').first();
    const agents = figures.locator('div').filter({ hasText: 'Agents' });
    await agents.getByText(/ready|none yet/).waitFor();
    await page.getByRole('heading', { name: 'Needs your attention' }).waitFor();
    await page.getByRole('heading', { name: 'Getting started' }).waitFor();
    assert.ok((await figures.locator('.skeleton').count()) > 0, 'what is still on its way has its room');
    const before = await agents.boundingBox();
    release();
    const loading = page.locator('.skeleton');
    while ((await loading.count()) > 0) await loading.first().waitFor({ state: 'detached' });
    assert.deepEqual(await agents.boundingBox(), before, 'nothing moved');
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    assertQuiet(watched);
  });

  test('that nothing waits is said when it is known, and not before', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/api/devices', async (route) => {
      await held;
      await route.continue();
    });
    const other = await page.context().newPage();
    await other.route('**/api/devices', (route) => route.fulfill({ status: 500, json: { error: 'It is broken' } }));
    await page.goto('/dashboard/inbox');
    await page.locator('#content .skeleton').first().waitFor();
    assert.equal(await page.getByText('Nothing waits for you').count(), 0);
    release();
    await page.getByText('Nothing waits for you').waitFor();
    // One that cannot be read is told, with the way to try again.
    await other.goto('/dashboard/inbox');
    await other.getByText('It is broken').waitFor();
    await other.unrouteAll({ behavior: 'ignoreErrors' });
    await other.getByRole('button', { name: 'Try again' }).click();
    await other.getByText('Nothing waits for you').waitFor();
    await other.close();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    assertQuiet(watched);
  });
});
