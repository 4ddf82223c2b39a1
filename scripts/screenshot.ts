import { chromium as playwright } from 'playwright-core';
import { chromium } from '../tests/lib/needs.ts';

/** `node scripts/screenshot.ts ADDRESS FILE`: the picture in README.md, of a running platform. */
const [address = 'http://127.0.0.1:3000', file = 'docs/images/front.png'] = process.argv.slice(2);
const name = chromium();
if (name === undefined) throw new Error('Chromium is needed');
const executablePath = name.startsWith('/') ? name : `/usr/bin/${name}`;
const browser = await playwright.launch({ executablePath, args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
await page.goto(address, { waitUntil: 'networkidle' });
await page.screenshot({ path: file });
await browser.close();
