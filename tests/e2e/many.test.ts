import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import type { Locator, Page } from 'playwright-core';
import { assertAccessible, assertQuiet, enter, openPage, settle, soon } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import { browserSuite } from './suite.ts';
import type { RunningPlatform } from './platform.ts';
import { createWordsModel } from './words-model.ts';

const MANY = 500;
const model = await createWordsModel();

async function openDatabase({ dataDir }: RunningPlatform): Promise<pg.Client> {
  const database = new pg.Client({ host: join(dataDir, 'run'), user: 'troupe', database: 'troupe', port: 5432 });
  await database.connect();
  return database;
}

/** Rows like one that is there, as many as wanted: an agent and a conversation are rows. */
async function copyRows(platform: RunningPlatform, agentId: string, sessionId: string): Promise<void> {
  const database = await openDatabase(platform);
  const copy = async (table: string, key: string, like: string, replaced: Record<string, string>) => {
    const { rows } = await database.query<{ column_name: string }>(
      `select column_name from information_schema.columns where table_name = $1 and is_generated = 'NEVER' and identity_generation is null`,
      [table],
    );
    const names = rows.map(({ column_name: name }) => name);
    const values = names.map((name) => replaced[name] ?? `"${name}"`);
    await database.query(
      `insert into ${table} (${names.map((name) => `"${name}"`).join()}) select ${values.join()} from ${table}, generate_series(2, ${MANY}) n where ${key} = $1`,
      [like],
    );
  };
  try {
    const id = `'many-' || n`;
    await copy('agents', 'id', agentId, { id, name: `'Agent ' || n`, token_hash: 'md5(n::text)' });
    await copy('agent_definitions', 'agent_id', agentId, { agent_id: id });
    await copy('agent_sessions', 'id', sessionId, {
      id: `'talk-' || n`,
      key: `'talk-' || n`,
      title: `'Talk ' || n`,
      updated_at: `updated_at - n * interval '1 minute'`,
    });
  } finally {
    await database.end();
  }
}

/** Counts how long the page could not react, from here on. */
const WATCH_STALLS = `{
  window.stalls = [];
  new PerformanceObserver((list) => window.stalls.push(...list.getEntries().map((one) => one.duration)))
    .observe({ type: 'longtask' });
}`;
const ROUNDS = 5;

/** What scrolls around the first row, to one of its ends. */
const scrolling = (rows: string, place: 'start' | 'end') => `{
  let box = document.querySelector(${JSON.stringify(rows)})?.parentElement;
  while (box && !(box.scrollHeight > box.clientHeight + 1 && getComputedStyle(box).overflowY === 'auto')) box = box.parentElement;
  box?.scrollTo(0, ${place === 'end' ? 'box.scrollHeight' : '0'});
}`;

/** The end moves as long as rows turn out to be higher than was thought. */
async function reach(rows: string, place: 'start' | 'end', wanted: Locator): Promise<void> {
  for (let tries = 0; tries < 50 && (await wanted.count()) === 0; tries += 1) {
    await wanted.page().evaluate(scrolling(rows, place));
    await wanted.page().waitForTimeout(100);
  }
  await wanted.waitFor();
}

const AGENT_ROWS = 'tbody tr[data-row]';
const TALK_ROWS = 'nav li[data-row]';

browserSuite(
  'lists of many',
  (stage) => {
    let watched: WatchedPage;
    let page: Page;
    let agentId = '';
    before(async () => {
      const { call } = await signedInCaller(stage.platform, stage.platform.owner);
      const made = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
        name: 'Agent 1',
        model: 'xiaomi/mimo-v2-pro',
        config: { tools: [] },
      });
      agentId = made.agent.id;
      await call('POST', '/api/chat', { agentId, message: 'Hello' });
      const { sessions } = await call<{ sessions: { id: string }[] }>('GET', `/api/agents/${agentId}/sessions`);
      await copyRows(stage.platform, agentId, sessions[0]!.id);
      watched = await openPage(stage.browser, stage.platform.url);
      ({ page } = watched);
      await enter(page, stage.platform.owner);
    });
    after(async () => {
      await watched?.context.close();
      await model.close();
    });

    test('agents: those in sight are in the document, each is found, and the keyboard goes through them', async () => {
      await settle(page, '/dashboard/agents');
      const region = page.getByRole('region', { name: 'Agents' });
      const rows = region.locator(AGENT_ROWS);
      await rows.first().waitFor();
      assert.ok((await rows.count()) < 60, `${await rows.count()} rows`);
      assert.equal(await region.getByRole('table').getAttribute('aria-rowcount'), String(MANY + 1));
      await reach(AGENT_ROWS, 'end', region.locator(`tr[aria-rowindex="${MANY + 1}"]`));
      await reach(AGENT_ROWS, 'start', region.locator('tr[aria-rowindex="2"]'));

      // Where the focus is stays, however far one scrolls, and the next key goes on from there.
      const box = rows.nth(1).getByRole('checkbox');
      await box.focus();
      const name = await box.getAttribute('aria-label');
      await reach(AGENT_ROWS, 'end', region.locator(`tr[aria-rowindex="${MANY + 1}"]`));
      const focused = () => page.evaluate<string | null>('document.activeElement?.getAttribute("aria-label")');
      assert.equal(await focused(), name);
      await page.keyboard.press('Space');
      await page.getByRole('region', { name: 'What to do with the chosen agents' }).getByText('1 chosen').waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      assert.match((await focused()) ?? '', /^Choose Agent/);
      await assertAccessible(page, 'many agents with some chosen');

      await page.getByLabel('Filter').fill('agent 299');
      await page.getByText(`1 of ${MANY}`).waitFor();
      await page.getByRole('link', { name: 'Agent 299' }).waitFor();
      assertQuiet(watched);
    });

    test('the stage follows all of them without a stall, folded and open', async (t) => {
      const database = await openDatabase(stage.platform);
      await settle(page, '/dashboard');
      await page.getByText(new RegExp(`^${MANY} ready`)).waitFor();
      await page.evaluate(WATCH_STALLS);
      // It sees one when there is one.
      await page.evaluate(`new Promise((done) => setTimeout(() => {
        for (const end = performance.now() + 150; performance.now() < end;);
        setTimeout(done, 200);
      }))`);
      assert.ok(
        (await page.evaluate<number[]>('window.stalls')).some((ms) => ms >= 100),
        'stalls are not seen',
      );
      const worst: number[] = [];
      // A hundred stop and are ready again, all at once; in the end with every mask in the page.
      const change = async (to: string, told: RegExp) => {
        await page.evaluate('window.stalls.length = 0');
        await database.query(`update agents set status = $1 where id like 'many-1__'`, [to]);
        await page.getByText(told).waitFor();
        await page.waitForTimeout(300);
        worst.push(Math.max(0, ...(await page.evaluate<number[]>('window.stalls'))));
      };
      try {
        for (const isOpen of [false, true]) {
          if (isOpen) await page.locator('summary', { hasText: 'Everybody else' }).click();
          for (let round = 0; round < ROUNDS; round += 1) {
            await change('stopped', new RegExp(`^${MANY - 100} ready · 100 off`));
            await change('running', new RegExp(`^${MANY} ready`));
          }
          const ordered = worst.splice(0).toSorted((a, b) => a - b);
          t.diagnostic(`${isOpen ? 'open' : 'folded'}: stalls of ${ordered.map(Math.round).join(', ')} ms`);
          // The machine does other things, too: half of them say what the page takes.
          assert.ok(ordered[ROUNDS]! <= 100, `${isOpen ? 'open' : 'folded'}: ${ordered.join(', ')} ms`);
        }
        assert.equal(await page.getByRole('link', { name: /^Agent \d+: ready$/ }).count(), MANY);
      } finally {
        await database.end();
      }
      assertQuiet(watched);
    });

    test('of all of them the one at work stands in front; it is watched, and taken over by keys', async () => {
      const { call } = await signedInCaller(stage.platform, stage.platform.owner);
      await settle(page, '/dashboard');
      await page.getByText(new RegExp(`^${MANY} ready`)).waitFor();
      await call('POST', `/api/agents/${agentId}/messages`, { message: 'Tell me a story' });
      await page.getByText(new RegExp(`^1 working · ${MANY - 1} ready`)).waitFor();
      await page.getByRole('link', { name: 'Watch Agent 1' }).click();
      await model.write('Once upon a time ');
      await page.getByRole('log').getByText('Once upon a time').waitFor();
      await page.goBack();

      // By state the others are one group; the arrows lead from the one in front to them and back.
      await page.getByRole('group', { name: 'The others by' }).getByRole('button', { name: 'State' }).click();
      await page.locator('summary', { hasText: 'ready' }).click();
      await assertAccessible(page, 'many agents by their state');
      await page.getByRole('link', { name: 'Agent 1', exact: true }).focus();
      const focused = () =>
        page.evaluate<string>('document.activeElement.getAttribute("aria-label") ?? document.activeElement.innerText');
      await page.keyboard.press('ArrowDown');
      assert.match(await focused(), /^Agent \d+: ready$/);
      await page.keyboard.press('ArrowRight');
      assert.match(await focused(), /^Agent \d+: ready$/);
      await page.keyboard.press('ArrowUp');
      assert.equal(await focused(), 'Agent 1');
      await page.keyboard.press('t');
      await page.getByText('Agent 1 has stopped. What should it do instead?').waitFor();
      await page.getByRole('log').getByText('Once upon a time').waitFor();
      await model.finish();
      assertQuiet(watched);
    });

    test('Ctrl K finds each of them, and a conversation of any, without a mouse and with one request', async () => {
      await settle(page, '/dashboard');
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      await page.keyboard.press('Control+k');
      const box = page.getByRole('combobox', { name: 'Search and commands' });
      const options = page.getByRole('option');
      await options.first().waitFor();
      // Before a word is typed agents are there, too.
      assert.match(await options.first().innerText(), /^Agent \d+/);
      await box.fill('agent 2');
      await soon(async () => assert.match(await options.first().innerText(), /^Agent 2\n/));
      await page.getByText(/^\d+ more: type on to find them\.$/).waitFor();
      await box.fill('agent 287');
      await page.getByText('Looking through').first().waitFor({ state: 'detached' });
      await assertAccessible(page, 'the search among many agents');
      await page.keyboard.press('Enter');
      await page.waitForURL(/agents\/many-287/);

      await settle(page, '/dashboard');
      asked.length = 0;
      await page.keyboard.press('Control+k');
      await box.fill('talk 277');
      const found = options.filter({ hasText: 'Talk 277' });
      await found.waitFor();
      assert.equal(asked.filter((path) => path === '/api/search').length, 1, asked.join('\n'));
      while ((await found.getAttribute('aria-selected')) !== 'true') await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.waitForURL(/c=talk-277/);
      page.removeAllListeners('request');
      assertQuiet(watched, [/ 404 .*files/]);
    });

    test('conversations: the list scrolls by itself, and says how many there are', async () => {
      await settle(page, `/dashboard/agents/${agentId}/talk`);
      const list = page.getByRole('navigation', { name: 'Conversations' });
      const rows = list.locator('li[data-row]');
      await rows.first().waitFor();
      await list.getByRole('button', { name: 'Show older ones' }).click();
      await list.locator('li[aria-setsize="200"]').first().waitFor();
      assert.ok((await rows.count()) < 60, `${await rows.count()} rows`);
      const high = (await list.boundingBox())!.height;
      assert.ok(high < 800, 'the page does not grow with the list');
      await reach(TALK_ROWS, 'end', list.locator('li[aria-posinset="200"]'));
      await list.getByRole('button', { name: /Talk 200/ }).click();
      await page.waitForURL(/c=talk-200/);
      await assertAccessible(page, 'many conversations');
      assertQuiet(watched);
    });

    test('an agent is pinned to the sidebar, and taken off it', async () => {
      await settle(page, '/dashboard/agents/many-7');
      await page.getByRole('button', { name: 'Pin to the sidebar' }).click();
      const pinned = page.getByRole('region', { name: 'Pinned' });
      await pinned.getByRole('link', { name: 'Agent 7' }).waitFor();
      await settle(page, '/dashboard/tasks');
      await pinned.getByRole('link', { name: 'Agent 7' }).click();
      await page.getByRole('heading', { name: 'Agent 7' }).waitFor();
      await page.getByRole('button', { name: 'Take it off the sidebar' }).click();
      await pinned.waitFor({ state: 'detached' });
      assertQuiet(watched);
    });

    test('addresses that are said and guessed lead to their pages, with what they name', async () => {
      const cases: [string, string][] = [
        ['/dashboard/money/cost?period=30d', '/dashboard/cost?period=30d'],
        ['/dashboard/admin/providers', '/dashboard/admin?tab=providers'],
        ['/dashboard/settings/keys', '/dashboard/settings?tab=keys'],
        [`/dashboard/agents/${agentId}/talk/talk-3?at=1`, `/dashboard/agents/${agentId}?at=1&tab=chat&c=talk-3`],
        [`/dashboard/agents/${agentId}/settings/backups`, `/dashboard/agents/${agentId}?tab=settings&part=backups`],
      ];
      for (const [from, to] of cases) {
        await settle(page, from);
        assert.equal(page.url().slice(stage.platform.url.length), to);
      }
      assertQuiet(watched);
    });
  },
  // the server of its own, in whose folder its socket is
  { ...model.env, DATABASE_URL: '' },
);
