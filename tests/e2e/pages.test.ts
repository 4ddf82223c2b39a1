import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Page, Response } from 'playwright-core';
import { assertAccessible, assertQuiet, openPage, settle, signIn } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { makeContent } from './content.ts';
import { ACCOUNT_PAGES, AGENT_PAGES, at, PUBLIC_PAGES, WORK_PAGES } from './pages.ts';
import type { PageEntry } from './pages.ts';
import { browserSuite } from './suite.ts';

const WIDE = { width: 1280, height: 860 };
const PHONE = { width: 360, height: 740 };

/** Chromium reports the status of a page that does not exist, a sign-in that nobody began and a program that nobody knows. */
const PROVOKED = [
  / 404 .*\/(no\/such\/page|api\/shared\/)/,
  / 401 .*\/api\/auth\/second-step/,
  / 400 .*\/api\/authorizations\/request\?client_id=nobody/,
];

/** Each page once: how much script it loads, whether it is accessible in both themes, fits a phone, and stays quiet. */
browserSuite('every page', (stage) => {
  let agentId = '';
  before(async () => {
    ({ agentId } = await makeContent(stage.platform));
  });

  const walk = (name: string, entries: PageEntry[], enter?: (page: Page) => Promise<void>): void => {
    void describe(name, () => {
      let watched: WatchedPage;
      before(async () => {
        watched = await openPage(stage.browser, stage.platform.url, { colorScheme: 'light', viewport: WIDE });
        await enter?.(watched.page);
      });
      for (const entry of entries) test(entry.name, () => look(watched, entry, at(entry, agentId)));
    });
  };

  walk('for anybody', PUBLIC_PAGES);
  walk('for who is signed in', [...AGENT_PAGES, ...WORK_PAGES, ...ACCOUNT_PAGES], (page) =>
    signIn(page, stage.platform.owner),
  );
});

async function look(watched: WatchedPage, { name }: PageEntry, path: string): Promise<void> {
  const { page } = watched;
  await page.setViewportSize(WIDE);
  const size = await scriptSize(page, () => settle(page, path));
  const most = name === 'login' ? 200_000 : 300_000;
  assert.ok(size <= most, `${name} loads ${size} bytes of gzipped JavaScript`);
  await assertAccessible(page, `${name}, light`);
  await page.evaluate("document.documentElement.dataset.theme = 'dark'");
  await assertAccessible(page, `${name}, dark`, 'colours');
  await page.setViewportSize(PHONE);
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  assert.ok(width <= PHONE.width, `${name} is ${width} pixels wide on a phone`);
  assertQuiet(watched, PROVOKED);
}

/** By address: a script that many pages load is taken from the browser and packed once. */
const sizes = new Map<string, Promise<number>>();

/** Gzipped bytes of all scripts that a visit with an empty cache loads. */
async function scriptSize(page: Page, visit: () => Promise<void>): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  const loaded: Promise<number>[] = [];
  const collect = (response: Response) => {
    if (response.request().resourceType() === 'script') loaded.push(packedSize(response));
  };
  page.on('response', collect);
  await visit();
  page.off('response', collect);
  const found = await Promise.all(loaded);
  await session.detach();
  return found.reduce((sum, size) => sum + size, 0);
}

function packedSize(response: Response): Promise<number> {
  const url = response.url();
  const known = sizes.get(url);
  if (known) return known;
  const size = response.body().then(
    (body) => gzipSync(body).length,
    () => {
      // A body that is gone belonged to the page that was just left: the next page that loads it has it.
      sizes.delete(url);
      return 0;
    },
  );
  sizes.set(url, size);
  return size;
}
