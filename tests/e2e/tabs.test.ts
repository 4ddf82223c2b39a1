import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createStandIn, type StandIn } from '@troupe/ai';
import type { Page } from 'playwright-core';
import { assertQuiet, enter, openPage, settle } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import type { Caller } from './content.ts';
import { browserSuite } from './suite.ts';

/** For the whole five minutes: TABS_SECONDS=300 node scripts/test.mjs tests/e2e/tabs.test.ts */
const LASTS_MS = Number(process.env['TABS_SECONDS'] ?? 60) * 1000;
const MOST_A_MINUTE = 30;
const MOST_LAG_MS = 2000;
const WORDS = 30;
const WORD_MS = 250;

/** Tells a story for some eight seconds, word by word. */
const model: StandIn = await createStandIn((request, response) => {
  const messages = (request.body['messages'] ?? []) as { role: string; content: string | null }[];
  const title = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (choice: object) =>
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
  let word = 0;
  const timer = setInterval(() => {
    word += 1;
    if (word < WORDS) return void send({ delta: { content: `word ${word} ` } });
    clearInterval(timer);
    send({ delta: { content: `and the end of ${title}.` } });
    send({ delta: {}, finish_reason: 'stop' });
    response.end('data: [DONE]\n\n');
  }, WORD_MS);
  response.on('close', () => clearInterval(timer));
});

/** Asks for one story after the other until the time is over; answers how many were told to their end. */
async function talk(page: Page, name: string, until: number): Promise<number> {
  let told = 0;
  for (; Date.now() < until; told += 1) {
    const title = `${name} ${told}`;
    await page.getByLabel('Message', { exact: true }).fill(title);
    await page.getByLabel('Message', { exact: true }).press('Enter');
    await page.getByRole('log').getByText(`and the end of ${title}.`).waitFor();
  }
  return told;
}

/** How long after a third agent was asked something the stage says that it works; again and again while others work. */
async function lagsOf(page: Page, ask: (message: string) => Promise<unknown>, until: number): Promise<number[]> {
  const lags: number[] = [];
  const card = page.getByRole('listitem').filter({ hasText: 'Cleo' });
  for (; Date.now() < until || lags.length === 0;) {
    await card.getByText('ready').waitFor();
    const asked = Date.now();
    await ask(`Tell Cleo ${lags.length}`);
    await card.getByText(/working/).waitFor();
    lags.push(Date.now() - asked);
  }
  return lags;
}

browserSuite(
  'two conversations and three tabs',
  (stage) => {
    let watched: WatchedPage;
    const ids: string[] = [];
    let callOwner: Caller['call'];
    before(async () => {
      const { call } = await signedInCaller(stage.platform, stage.platform.owner);
      callOwner = call;
      for (const name of ['Ada', 'Bert', 'Cleo']) {
        const { agent } = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
          name,
          model: 'xiaomi/mimo-v2-pro',
          config: { tools: [] },
        });
        ids.push(agent.id);
      }
      watched = await openPage(stage.browser, stage.platform.url);
      await enter(watched.page, stage.platform.owner);
    });
    after(async () => {
      await watched?.context.close();
      await model.close();
    });

    const timeout = LASTS_MS + 120_000;
    test('they are at work all the time, ask next to nothing, and are never refused', { timeout }, async (t) => {
      const { context } = watched;
      const pages = [watched.page, await context.newPage(), await context.newPage()] as const;
      const [one, two, overview] = pages;
      const asked: string[][] = pages.map(() => []);
      const refused: string[] = [];
      for (const [index, page] of pages.entries()) {
        page.setDefaultTimeout(60_000);
        page.on('request', (request) => asked[index]!.push(`${request.method()} ${new URL(request.url()).pathname}`));
        page.on('response', (response) => response.status() === 429 && refused.push(response.url()));
      }
      await settle(one, `/dashboard/agents/${ids[0]}?tab=chat`);
      await settle(two, `/dashboard/agents/${ids[1]}?tab=chat`);
      await settle(overview, '/dashboard');
      await overview.getByText('3 ready').first().waitFor();
      for (const list of asked) list.length = 0;
      const started = Date.now();
      const until = started + LASTS_MS;
      const [lags, ...stories] = await Promise.all([
        lagsOf(overview, (message) => callOwner('POST', `/api/agents/${ids[2]}/messages`, { message }), until),
        talk(one, 'Moon', until),
        talk(two, 'Sea', until),
      ]);
      const minutes = (Date.now() - started) / 60_000;
      const rates = asked.map((list) => (list.length / minutes).toFixed(1));
      t.diagnostic(
        `${stories.join(' and ')} answers in ${minutes.toFixed(2)} minutes; requests a minute: ${rates.join(', ')}`,
      );
      for (const [index, list] of asked.entries()) {
        const kinds = Object.entries(Object.groupBy(list, (path) => path)).map(
          ([path, all]) => `${all!.length} ${path}`,
        );
        t.diagnostic(`tab ${index + 1}: ${kinds.join(', ')}`);
        assert.ok(list.length < MOST_A_MINUTE * minutes, `tab ${index + 1} made ${list.length}: ${kinds.join(', ')}`);
      }
      assert.ok(
        stories.every((told) => told >= 2),
        'both were at work',
      );
      t.diagnostic(`the stage shows a change after ${lags.map(Math.round).join(', ')} ms`);
      const middle = lags.toSorted((a, b) => a - b)[Math.floor(lags.length / 2)]!;
      assert.ok(middle < MOST_LAG_MS, `the stage lags by ${lags.join(', ')} ms`);
      assert.deepEqual(refused, []);
      assertQuiet(watched);
    });
  },
  { OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: model.url },
);
