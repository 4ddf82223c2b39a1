import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertAccessible, assertQuiet, enter, openPage, settle, settled, soon } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { makeContent } from './content.ts';
import { makeNames } from './names.ts';
import { ACCOUNT_PAGES, AGENT_PAGES, at, PUBLIC_PAGES, WORK_PAGES } from './pages.ts';
import type { PageEntry } from './pages.ts';
import { MOST_SCRIPT, scriptSize } from './script-size.ts';
import { browserSuite } from './suite.ts';

const WIDE = { width: 1280, height: 860 };
/** Made smaller from one to the next; with the second it is looked at. */
const SIZES = [
  { width: 1920, height: 1080 },
  WIDE,
  { width: 820, height: 1180 },
  { width: 800, height: 1100 },
  { width: 390, height: 844 },
  { width: 360, height: 740 },
];

/** Chromium reports the status of a page that does not exist, a sign-in that nobody began and a program that nobody knows. */
const PROVOKED = [
  / 404 .*\/(no\/such\/page|api\/shared\/)/,
  / 401 .*\/api\/auth\/second-step/,
  / 400 .*\/api\/authorizations\/request\?client_id=nobody/,
];

/**
 * Each page is loaded once, on a platform where everything has a long name, one from right to left or one of pictures:
 * whether it is white while nothing has come, how much script it loads, whether it is accessible in both themes, fits
 * screens of all sizes, and stays quiet.
 */
browserSuite('every page', (stage) => {
  let agentId = '';
  const open = () => openPage(stage.browser, stage.platform.url, { colorScheme: 'light', viewport: WIDE });
  before(async () => {
    ({ agentId } = await makeContent(stage.platform));
    await makeNames(stage.platform, agentId);
  });

  void describe('for anybody', () => {
    let watched: WatchedPage;
    before(async () => (watched = await open()));
    for (const entry of PUBLIC_PAGES)
      test(entry.name, () => look(watched, entry, () => settle(watched.page, entry.path)));
  });

  void describe('for who is signed in', () => {
    let watched: WatchedPage;
    let visit: (entry: PageEntry) => Promise<void>;
    before(async () => {
      watched = await open();
      await enter(watched.page, stage.platform.owner);
      visit = await slowly(watched, (entry) => at(entry, agentId));
    });
    for (const entry of [...AGENT_PAGES, ...WORK_PAGES, ...ACCOUNT_PAGES])
      test(entry.name, () => look(watched, entry, () => visit(entry)));
  });
});

/** Whatever is asked for does not come at first: what stands there then is words, shapes or both. */
async function slowly({ page }: WatchedPage, pathOf: (entry: PageEntry) => string) {
  let release = () => {};
  let held = Promise.resolve();
  await page.route(/\/api\/(?!auth\/session|live)/, async (route) => {
    await held;
    await route.continue();
  });
  return async (entry: PageEntry) => {
    held = new Promise((resolve) => (release = resolve));
    try {
      await page.goto(pathOf(entry), { waitUntil: 'commit' });
      await soon(async () => {
        const [shapes, letters] = await page.evaluate<[number, number]>(
          `[document.querySelectorAll('#content .skeleton, #content [role=status]').length, (document.querySelector('#content')?.innerText ?? '').trim().length]`,
        );
        assert.ok(shapes > 0 || letters > 20, `${entry.name} is white: ${shapes} shapes, ${letters} letters`);
      });
    } finally {
      release();
    }
    await settled(page);
  };
}

async function look(watched: WatchedPage, { name }: PageEntry, visit: () => Promise<void>): Promise<void> {
  const { page } = watched;
  await page.setViewportSize(SIZES[0]!);
  const size = await scriptSize(page, visit);
  const most = name === 'login' ? 200_000 : MOST_SCRIPT;
  assert.ok(size <= most, `${name} loads ${size} bytes of gzipped JavaScript`);
  for (const viewport of SIZES) {
    await page.setViewportSize(viewport);
    await soon(async () => {
      const over = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      assert.ok(over <= 0, `${name} is ${over} px wider than ${viewport.width}`);
    });
    if (viewport !== WIDE) continue;
    await assertAccessible(page, `${name}, light`);
    await page.evaluate("document.documentElement.dataset.theme = 'dark'");
    await assertAccessible(page, `${name}, dark`, 'colours');
  }
  assertQuiet(watched, PROVOKED);
}
