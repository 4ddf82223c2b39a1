import type { Browser } from 'playwright-core';
import { openBrowser } from './browser.ts';

/** One browser for the suites of a process, one after the other: to start and end one takes seconds of the processor. */

/** Until the next suite has begun, or there is none. */
const LINGER_MS = 500;

let users = 0;
let shared: Browser | undefined;

export async function borrowBrowser(): Promise<Browser> {
  if (!shared?.isConnected()) shared = await openBrowser();
  users += 1;
  return shared;
}

export function giveBack(): void {
  users -= 1;
  setTimeout(() => {
    if (users > 0) return;
    void shared?.close();
    shared = undefined;
  }, LINGER_MS);
}

/** A page that stayed would go on asking a platform that is gone. */
export async function closePages(browser: Browser): Promise<void> {
  await Promise.all(browser.contexts().map((context) => context.close()));
}

const MOST_SHOWN = 600;

/** What the pages show that are open: a test that waits in vain says only what it waited for. */
export function shown(browser: Browser): Promise<string[]> {
  const pages = browser.contexts().flatMap((context) => context.pages());
  return Promise.all(
    pages.map(async (page) => {
      const text = await page
        .locator('body')
        .innerText({ timeout: 2000 })
        .catch((error: unknown) => `(not readable: ${String(error)})`);
      return `${page.url()} shows: ${text.replaceAll(/\s+/g, ' ').slice(0, MOST_SHOWN)}`;
    }),
  );
}
