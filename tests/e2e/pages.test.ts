import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, assertQuiet, openPage, settle, signIn } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { makeContent } from './content.ts';
import { ACCOUNT_PAGES, AGENT_PAGES, at, PUBLIC_PAGES, WORK_PAGES } from './pages.ts';
import type { PageEntry } from './pages.ts';
import { MOST_SCRIPT, scriptSize } from './script-size.ts';
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
  const most = name === 'login' ? 200_000 : MOST_SCRIPT;
  assert.ok(size <= most, `${name} loads ${size} bytes of gzipped JavaScript`);
  await assertAccessible(page, `${name}, light`);
  await page.evaluate("document.documentElement.dataset.theme = 'dark'");
  await assertAccessible(page, `${name}, dark`, 'colours');
  await page.setViewportSize(PHONE);
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  assert.ok(width <= PHONE.width, `${name} is ${width} pixels wide on a phone`);
  assertQuiet(watched, PROVOKED);
}
