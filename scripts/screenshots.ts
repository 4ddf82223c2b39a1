import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { BrowserContextOptions } from 'playwright-core';
import { openBrowser, openPage, settle, signIn } from '../tests/e2e/browser.ts';
import { makeContent } from '../tests/e2e/content.ts';
import { ACCOUNT_PAGES, AGENT_PAGES, at, PUBLIC_PAGES, WORK_PAGES } from '../tests/e2e/pages.ts';
import { startPlatform } from '../tests/e2e/platform.ts';

/** Pictures of every page, light, dark and on a phone: `node scripts/screenshots.ts [folder] [part of a page's name]`. */
const LOOKS: Record<string, BrowserContextOptions> = {
  light: { viewport: { width: 1280, height: 860 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 860 }, colorScheme: 'dark' },
  phone: { viewport: { width: 360, height: 740 }, colorScheme: 'light', deviceScaleFactor: 2 },
};

const folder = resolve(process.argv[2] ?? 'screenshots');
const wanted = process.argv[3] ?? '';
await mkdir(folder, { recursive: true });
const platform = await startPlatform();
const browser = await openBrowser();
try {
  const { agentId } = await makeContent(platform);
  for (const [look, options] of Object.entries(LOOKS)) {
    const { page, context, complaints } = await openPage(browser, platform.url, options);
    const shoot = async (name: string, path: string) => {
      if (!name.includes(wanted)) return;
      await settle(page, path);
      await page.screenshot({ path: `${folder}/${name}-${look}.png`, fullPage: true, animations: 'disabled' });
    };
    for (const entry of PUBLIC_PAGES) await shoot(entry.name, entry.path);
    await signIn(page, platform.owner);
    for (const entry of [...AGENT_PAGES, ...WORK_PAGES, ...ACCOUNT_PAGES]) await shoot(entry.name, at(entry, agentId));
    for (const complaint of new Set(complaints)) console.log(`${look}: ${complaint}`);
    await context.close();
  }
  console.log(`screenshots in ${folder}`);
} finally {
  await browser.close();
  await platform.stop();
}
