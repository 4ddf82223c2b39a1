import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { BrowserContextOptions, Page, ViewportSize } from 'playwright-core';
import { openBrowser, openPage, settle, signIn } from '../tests/e2e/browser.ts';
import { ACCOUNT_PAGES, AGENT_PAGES, at, PUBLIC_PAGES, WORK_PAGES } from '../tests/e2e/pages.ts';
import { startShowcase } from './lib/showcase/showcase.ts';

/** Pictures of every page, light, dark and on a phone: `node scripts/screenshots.ts [folder] [expression for the pictures' names]`. */
const LOOKS: Record<string, BrowserContextOptions & { viewport: ViewportSize }> = {
  light: { viewport: { width: 1280, height: 940 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 940 }, colorScheme: 'dark' },
  phone: { viewport: { width: 360, height: 740 }, colorScheme: 'light', deviceScaleFactor: 2 },
};

/** The runs of the newest conversation, by what was asked. */
async function runsOf(page: Page, agentId: string): Promise<{ asked: string; path: string }[]> {
  const read = async (path: string) => (await page.request.get(path)).json();
  const { sessions } = (await read(`/api/agents/${agentId}/sessions?key=dashboard`)) as { sessions: { id: string }[] };
  const { id } = sessions[0]!;
  const { events } = (await read(`/api/agents/${agentId}/sessions/${id}`)) as {
    events: { seq: number; type: string; content?: string }[];
  };
  return events
    .filter(({ type }) => type === 'user')
    .map(({ seq, content = '' }) => ({ asked: content, path: `/dashboard/agents/${agentId}/runs/${id}?run=${seq}` }));
}

const folder = resolve(process.argv[2] ?? 'screenshots');
const wanted = new RegExp(process.argv[3] ?? '');
/** With a third argument `window`, only what a window shows: for the README. */
const whole = process.argv[4] !== 'window';
await mkdir(folder, { recursive: true });
const { platform, agentId, stop } = await startShowcase();
const browser = await openBrowser();
try {
  for (const [look, options] of Object.entries(LOOKS)) {
    const { viewport } = options;
    const { page, context, complaints } = await openPage(browser, platform.url, options);
    const shoot = async (name: string, path: string) => {
      if (!wanted.test(`${name}-${look}`)) return;
      await page.setViewportSize(viewport);
      await settle(page, path);
      await page.evaluate('document.fonts.ready');
      // What sticks to the window's edges stands where a person would see it.
      const height = await page.evaluate<number>('document.documentElement.scrollHeight');
      if (whole) await page.setViewportSize({ ...viewport, height: Math.max(viewport.height, height) });
      await page.screenshot({ path: `${folder}/${name}-${look}.png`, animations: 'disabled' });
    };
    for (const entry of PUBLIC_PAGES) await shoot(entry.name, entry.path);
    await signIn(page, platform.owner);
    for (const entry of [...AGENT_PAGES, ...WORK_PAGES, ...ACCOUNT_PAGES]) await shoot(entry.name, at(entry, agentId));
    const run = (await runsOf(page, agentId)).find(({ asked }) => asked.startsWith('What goes out'));
    if (run) await shoot('run', run.path);
    for (const complaint of new Set(complaints)) console.log(`${look}: ${complaint}`);
    await context.close();
  }
  console.log(`screenshots in ${folder}`);
} finally {
  await browser.close();
  await stop();
}
