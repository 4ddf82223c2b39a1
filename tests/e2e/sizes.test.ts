import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertQuiet, enter, openPage, settle, soon } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import { browserSuite } from './suite.ts';

/** Names as people give them: as long as they may be, of other letters, of pictures alone. */
const LONG = 'Release-calendar-of-everybody-'.repeat(7).slice(0, 200);
/** Of agents: 64 characters at most. */
const NAMES = [LONG.slice(0, 64), 'مساعد الحجز '.repeat(5).trim(), '🎪🎭🎫'];
const SIZES = { phone: [360, 740], tablet: [768, 1024], large: [1920, 1080] } as const;

browserSuite('screens of all sizes and slow networks', (stage) => {
  let watched: WatchedPage;
  let page: WatchedPage['page'];
  let agentId = '';
  before(async () => {
    const { call } = await signedInCaller(stage.platform, stage.platform.owner);
    for (const name of NAMES) {
      const made = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', { name });
      agentId ||= made.agent.id;
    }
    const task = { name: LONG, cronSchedule: '0 9 * * *', prompt: LONG, agentId };
    await call('POST', '/api/scheduled-tasks', task);
    await call('POST', '/api/chat', { agentId, message: LONG });
    watched = await openPage(stage.browser, stage.platform.url);
    page = watched.page;
    await enter(page, stage.platform.owner);
  });
  after(() => watched?.context.close());

  for (const [size, [width, height]] of Object.entries(SIZES))
    test(`long names, other letters and pictures fit on a ${size} screen`, async () => {
      await page.setViewportSize({ width, height });
      for (const path of [
        '',
        '/agents',
        `/agents/${agentId}?tab=chat`,
        `/agents/${agentId}?tab=settings&part=manage`,
        '/tasks',
        '/settings?tab=keys',
      ]) {
        await settle(page, `/dashboard${path}`);
        const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        assert.ok(wide <= 0, `${path} is ${wide} px wider than a ${size} screen`);
      }
      await settle(page, '/dashboard/agents');
      await page.getByText(NAMES[2]!).first().waitFor();
      assertQuiet(watched);
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
    await page.getByText(NAMES[2]!).first().waitFor();
    await soon(async () => assert.equal(await page.locator('.skeleton').count(), 0));
    assertQuiet(watched);
  });
});
