import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertQuiet, enter, openPage, settle, soon } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { makeNames, namesOf } from './names.ts';
import { ACCOUNT_PAGES, AGENT_PAGES, at, WORK_PAGES } from './pages.ts';
import { browserSuite } from './suite.ts';

/** The largest first: a page is loaded once, and made smaller. */
const SIZES = [
  [1920, 1080],
  [820, 1180],
  [390, 844],
] as const;
/** A program that nobody knows; and no person looks at fifty pages in a minute, for which one waits a moment here. */
const PROVOKED = [/ 400 .*\/api\/authorizations\/request\?client_id=nobody/, / 429 .*\/api\/agents/];
const PICTURES = namesOf(64)[2];

browserSuite('screens of all sizes and slow networks', (stage) => {
  let watched: WatchedPage;
  let page: WatchedPage['page'];
  let agentId = '';
  before(async () => {
    ({ agentId } = await makeNames(stage.platform));
    watched = await openPage(stage.browser, stage.platform.url);
    page = watched.page;
    await enter(page, stage.platform.owner);
  });
  after(() => watched?.context.close());

  for (const entry of [...AGENT_PAGES, ...WORK_PAGES, ...ACCOUNT_PAGES])
    test(`long names, other letters and pictures fit: ${entry.name}`, async () => {
      const [[width, height], ...smaller] = SIZES;
      await page.setViewportSize({ width, height });
      await settle(page, at(entry, agentId));
      const tooWide = async () => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      assert.ok((await tooWide()) <= 0, `${await tooWide()} px wider than a large screen`);
      for (const [narrow, high] of smaller) {
        await page.setViewportSize({ width: narrow, height: high });
        await soon(async () => assert.ok((await tooWide()) <= 0, `${await tooWide()} px wider than ${narrow}`));
      }
      assertQuiet(watched, PROVOKED);
    });

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
    release();
    await page.getByText(PICTURES).first().waitFor();
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

  /** Whatever is asked for does not come: what stands there then is words, shapes or both, on each page. */
  test('on a network that brings nothing no page is white', async () => {
    await settle(page, '/dashboard');
    await page.route('**/api/**', (route) =>
      /\/api\/(auth\/session|live)/.test(route.request().url()) ? route.continue() : undefined,
    );
    for (const entry of [...AGENT_PAGES, ...WORK_PAGES, ...ACCOUNT_PAGES]) {
      await page.goto(at(entry, agentId), { waitUntil: 'commit' });
      await soon(async () => {
        const shown = await page.evaluate<[number, number]>(
          `[document.querySelectorAll('#content .skeleton, #content [role=status]').length, (document.querySelector('#content')?.innerText ?? '').trim().length]`,
        );
        assert.ok(shown[0] > 0 || shown[1] > 20, `${entry.name}: ${shown.join(', ')}`);
      });
    }
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });
});
