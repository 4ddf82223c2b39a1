import axe from 'axe-core';
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { browserProgram } from './browser-program.ts';

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: browserProgram(), args: ARGS });
}

/** What a busy machine may take to show something. */
const WAIT_MS = 30_000;

/** A page that remembers what the console complained about: a test ends with `assertQuiet`. */
export interface WatchedPage {
  page: Page;
  context: BrowserContext;
  complaints: string[];
}

export async function openPage(
  browser: Browser,
  baseURL: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ baseURL, locale: 'en-GB', timezoneId: 'UTC', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} (${message.location().url})`);
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  return { page, context, complaints };
}

/** Chromium reports each refused request as an error; those that a test provoked are named. */
export function assertQuiet({ complaints }: WatchedPage, provoked: RegExp[] = []): void {
  const left = complaints.splice(0).filter((text) => !provoked.some((known) => known.test(text)));
  assert.deepEqual(left, []);
}

/** What a theme changes about a page is its colours. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

interface Violation {
  id: string;
  nodes: { target: unknown[]; html: string }[];
}

/** By axe, in the page itself: all rules, or those about colours where the rest was looked at in another theme. */
export async function assertAccessible(page: Page, name: string, rules?: 'colours'): Promise<void> {
  // A colour that is still changing is neither the old nor the new one. Spinners never end and are not waited for.
  await page.evaluate(
    `Promise.allSettled(document.getAnimations()
      .filter((one) => one.effect?.getComputedTiming().iterations !== Infinity)
      .map((one) => one.finished))`,
  );
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source);
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: { type: 'rule', values: COLOURS } }) };
  const violations = await page.evaluate<Violation[]>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
  const told = violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ target, html }) => `${String(target)} ${html.slice(0, 120)}`).join(' | ')}`,
  );
  assert.deepEqual(told, [], `accessibility of ${name}`);
}

export async function signIn(page: Page, { email, password }: { email: string; password: string }): Promise<void> {
  await page.goto('/login');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL('**/dashboard');
  await page.locator('#content').waitFor();
}

/** As `signIn`, without its pages, which take longer than many a test: for whoever goes to another page next. */
export async function enter(page: Page, { email, password }: { email: string; password: string }): Promise<void> {
  const answer = await page.request.post('/api/auth/login', { data: { email, password } });
  assert.equal(answer.status(), 200, await answer.text());
}

/** For what is there only after an event that the page has still to hear of: an assertion that is made until it holds. */
export async function soon(assertion: () => Promise<void>): Promise<void> {
  const until = Date.now() + WAIT_MS;
  for (;;) {
    try {
      return await assertion();
    } catch (error) {
      if (Date.now() > until) throw error;
      await delay(50);
    }
  }
}

/** Opens a page and waits until it shows what it has to show. */
export async function settle(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await settled(page);
}

/** Waits until the page that is being opened shows what it has to show. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor({ state: 'attached' });
  const loading = page.locator('.skeleton');
  while ((await loading.count()) > 0) await loading.first().waitFor({ state: 'detached' });
}

/** Says it in the conversation that is open. */
export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text);
  await page.getByLabel('Message').press('Enter');
}
