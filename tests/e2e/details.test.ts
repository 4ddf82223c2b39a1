import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import type { Route } from 'playwright-core';
import { assertAccessible, assertQuiet, enter, openPage, settle, soon } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller, type Caller } from './content.ts';
import { browserSuite } from './suite.ts';

const ANSWER = `## Plan

1. Berlin
   - [x] hall
   - [ ] hotel
2. Hamburg

| City | Seats |
|:-----|------:|
| Berlin | 900 |

It is ~~late~~ **early**.

\`\`\`ts
const seats = 900; // enough
\`\`\`

**[The hall](https://hall.example)**, **run \`npm test\`**, _soon_, \\*not\\*.

1. Pack it:
   \`\`\`sh
   tar czf plan.tgz plan
   \`\`\`
2. Send it

---

##### Small print

> - quoted

| Say | Do |
|---|---|
| \`a|b\` | =one<br>two |

![](out/chart.png) ![map](https://maps.example/m.png) and [the report](out/r.md)`;

const model: StandIn = await createStandIn((request, response) =>
  replyChat(request, response, { content: ANSWER, usage: { prompt_tokens: 50_000, completion_tokens: 10_000 } }),
);

/** A task whose time has just come: its next run is not known to the page yet. */
async function late(route: Route): Promise<void> {
  const answer = await route.fetch();
  const text = await answer.text();
  const before = new Date(Date.now() - 21_000).toISOString();
  await route.fulfill({ response: answer, body: text.replaceAll(/"nextRun":"[^"]+"/g, `"nextRun":"${before}"`) });
}

browserSuite(
  'small things that say something true',
  (stage) => {
    let watched: WatchedPage;
    let caller: Caller;
    let agentId = '';
    const hebrew = 'סוכן הסיור הגדול של ברלין והמבורג';
    before(async () => {
      caller = await signedInCaller(stage.platform, stage.platform.owner);
      const { agent } = await caller.call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
        name: hebrew,
        model: 'xiaomi/mimo-v2-pro',
        config: { tools: [] },
      });
      agentId = agent.id;
      watched = await openPage(stage.browser, stage.platform.url);
      await enter(watched.page, stage.platform.owner);
    });
    after(async () => {
      await watched?.context.close();
      await model.close();
    });

    test('lists in lists, tasks, alignment, strikes and code with a way to copy it', async () => {
      const { page } = watched;
      await settle(page, `/dashboard/agents/${agentId}?tab=chat`);
      await page.getByLabel('Message').fill('The plan, please');
      await page.getByLabel('Message').press('Enter');
      const log = page.getByRole('log');
      await log.locator('ol > li', { hasText: 'Berlin' }).locator('ul > li', { hasText: 'hall' }).waitFor();
      assert.equal(await log.getByRole('checkbox', { name: 'done' }).isChecked(), true);
      assert.equal(await log.getByRole('checkbox', { name: 'to do' }).isChecked(), false);
      await log.locator('del', { hasText: 'late' }).waitFor();
      assert.equal(await log.locator('td', { hasText: '900' }).evaluate((cell) => cell.style.textAlign), 'right');
      await log.locator('pre span', { hasText: '// enough' }).waitFor();
      await log.getByRole('figure').getByRole('button', { name: 'Copy' }).first().waitFor();
      // A picture that is not there is a name that can be opened.
      await log.getByRole('button', { name: 'out/chart.png', exact: true }).waitFor();
      assert.equal(await log.getByRole('img').count(), 0);
      await assertAccessible(page, 'an answer with everything');
      assertQuiet(watched, [/ 404 .*out%2Fchart\.png/]);
    });

    test('marks in marks, code in lists, lines across, small headings, quotes of lists, cells of code', async () => {
      const { page } = watched;
      const log = page.getByRole('log');
      await log.locator('strong > a[href="https://hall.example"]', { hasText: 'The hall' }).waitFor();
      await log.locator('strong > code', { hasText: 'npm test' }).waitFor();
      await log.locator('em', { hasText: 'soon' }).waitFor();
      await log.getByText('*not*').waitFor();
      const packed = log.locator('ol > li', { hasText: 'Pack it' });
      assert.equal(await packed.locator('pre').innerText(), 'tar czf plan.tgz plan');
      const list = log.locator('ol', { has: page.locator('li', { hasText: 'Pack it' }) });
      assert.equal(await list.locator('> li').count(), 2);
      assert.equal(await log.locator('hr').count(), 1);
      await log.locator('p.font-semibold', { hasText: 'Small print' }).waitFor();
      await log.locator('blockquote li', { hasText: 'quoted' }).waitFor();
      await log.locator('td > code', { hasText: 'a|b' }).waitFor();
      assert.equal(await log.locator('td', { hasText: 'one' }).innerText(), '=one\ntwo');
      const words = await log.locator('.markdown').innerText();
      for (const mark of ['**', '`', '<br', '---', '#####', '](', '_soon'])
        assert.equal(words.includes(mark), false, `${mark} stands raw`);
    });

    test('pictures of the workspace are shown, foreign ones only when somebody wants them; files are opened', async () => {
      const { page, context } = watched;
      const put = async (path: string, data: Buffer | string) => {
        const answer = await page.request.put(`/api/agents/${agentId}/files/content?path=${encodeURIComponent(path)}`, {
          headers: { 'content-type': 'application/octet-stream' },
          data,
        });
        assert.equal(answer.status(), 201, await answer.text());
      };
      await put('out/chart.png', await page.screenshot());
      await put('out/r.md', '# The report');
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await page.reload();
      const log = page.getByRole('log');
      const picture = log.getByRole('img', { name: 'out/chart.png' });
      await picture.scrollIntoViewIfNeeded();
      await soon(async () =>
        assert.ok(await picture.evaluate((node) => (node as unknown as { naturalHeight: number }).naturalHeight > 320)),
      );
      assert.ok((await picture.boundingBox())!.height <= 320);
      const foreign = log.getByRole('link', { name: 'Show picture from maps.example' });
      assert.equal(await foreign.getAttribute('href'), 'https://maps.example/m.png');
      assert.equal(await foreign.getAttribute('rel'), 'noopener noreferrer');
      assert.equal(await log.getByRole('img').count(), 1);
      assert.deepEqual(
        asked.filter((url) => url.includes('maps.example')),
        [],
      );
      await assertAccessible(page, 'pictures in an answer');

      await log.getByRole('button', { name: 'the report' }).click();
      const dialog = page.getByRole('dialog', { name: 'r.md' });
      await dialog.getByText('The report').waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });

      await log.getByRole('figure').first().getByRole('button', { name: 'Save to files' }).click();
      await log.getByRole('button', { name: 'Saved as snippet.ts' }).click();
      await page.getByRole('dialog', { name: 'snippet.ts' }).getByText('const seats = 900; // enough').waitFor();
      await page.keyboard.press('Escape');

      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      await log.getByRole('button', { name: 'Copy as CSV' }).last().click();
      await log.getByText('Copied').waitFor();
      const copied = await page.evaluate<string>('navigator.clipboard.readText()');
      assert.equal(copied.replaceAll('\r', ''), `"Say","Do"\n"a|b","'=one two"`);
      await context.clearPermissions();
      assertQuiet(watched);
    });

    test('in feeds the words stand without their marks', async () => {
      const { page } = watched;
      await settle(page, `/dashboard/agents/${agentId}?tab=work&part=messages`);
      await page.getByText(/Plan Berlin .* It is late early\./).waitFor();
      assert.equal(await page.getByText('**early**').count(), 0);
    });

    test('a step of a run says its words as the conversation does', async () => {
      const { page } = watched;
      const { sessions } = await caller.call<{ sessions: { id: string }[] }>('GET', `/api/agents/${agentId}/sessions`);
      await settle(page, `/dashboard/agents/${agentId}/runs/${sessions[0]!.id}?run=1`);
      const words = page.getByRole('group', { name: 'Words' });
      await words.locator('strong', { hasText: 'early' }).waitFor();
      await words.locator('td', { hasText: '900' }).waitFor();
      assert.equal(await page.getByText('**early**').count(), 0);
      await assertAccessible(page, 'a step with everything');
      assertQuiet(watched);
    });

    test('the audit log says who did it, and to whom', async () => {
      const { page } = watched;
      const registered = await fetch(`${stage.platform.url}/api/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'kim@example.org', password: 'correct horse battery', name: 'Kim' }),
      });
      const { id } = (await registered.json()) as { id: string };
      await caller.call('PATCH', `/api/admin/users/${id}`, { plan: 'solo', subscriptionStatus: 'active' });
      await settle(page, '/dashboard/settings?tab=audit');
      const row = page.getByRole('row', { name: /Plan changed.*kim@example\.org/ }).first();
      await row.waitFor();
      const cells = await row.getByRole('cell').allInnerTexts();
      assert.deepEqual(cells[1]?.split('\n'), [stage.platform.owner.email, 'about kim@example.org']);
      assert.match(cells[0] ?? '', /^Plan changed\n.*afterwards\s*plan: solo, subscription: active/s);
      // What belongs to an entry has room: a few words to a line, whatever the width.
      for (const width of [1280, 820, 390]) {
        await page.setViewportSize({ width, height: 860 });
        const box = await row.getByRole('cell').first().boundingBox();
        assert.ok(box && box.width >= Math.min(300, width - 60), `${box?.width} px at ${width}`);
        assert.ok(box.height <= 130, `${box.height} px high at ${width}`);
      }
      await page.setViewportSize({ width: 1280, height: 860 });
      assertQuiet(watched);
    });

    test('a cap that is passed says by how much, an address that leads nowhere keeps the way on', async () => {
      const { page } = watched;
      await caller.call('PUT', '/api/usage/caps', { scope: 'user', period: 'month', limitUsd: 0.0208 });
      await settle(page, '/dashboard/cost');
      // $0.016 of $0.0208 is 77 %, and so is the bar.
      const bar = page.getByRole('meter').first();
      assert.equal(Number(await bar.getAttribute('aria-valuenow')).toFixed(3), '0.016');
      const [whole, filled] = await Promise.all([bar.boundingBox(), bar.locator('div').boundingBox()]);
      assert.equal((filled!.width / whole!.width).toFixed(2), '0.77');
      await caller.call('PUT', '/api/usage/caps', { scope: 'user', period: 'month', limitUsd: 0.01 });
      await settle(page, '/dashboard/cost');
      await page.getByText('Over $0.01 by $0.006; calls are refused').waitFor();
      await settle(page, `/dashboard/agents/${agentId}?tab=chat`);
      await page.getByLabel('Message').fill('Once more');
      await page.getByLabel('Message').press('Enter');
      const note = page.getByRole('log').getByText('Cap reached: $0.016 spent, $0.01 allowed. Nothing was sent.');
      await note.waitFor();
      assert.equal(await note.count(), 1);
      await page.getByRole('link', { name: 'Look at the caps' }).waitFor();

      await settle(page, '/dashboard/nowhere/at/all');
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
      await page.getByRole('navigation', { name: 'Main' }).first().waitFor();
      await assertAccessible(page, 'an address that leads nowhere');
      assertQuiet(watched);
    });

    test('a team over its limit offers plans to who can have a larger one, and to nobody else', async () => {
      const refused = async (page: WatchedPage['page'], plan: string) => {
        await settle(page, '/dashboard/teams?tab=gallery');
        await page.getByRole('button', { name: 'Use' }).first().click();
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel('Plan').selectOption(plan);
        await dialog.getByRole('button', { name: 'Start the team' }).click();
        await dialog.getByRole('alert').waitFor();
        return dialog.getByRole('link', { name: 'See plans' }).count();
      };
      // The owner has the largest plan, which has no bound of its own to run into: the answer is as another plan's is.
      const { page } = watched;
      await page.route('**/api/provision/team', (route) =>
        route.fulfill({ status: 402, json: { error: 'Agent limit reached for network plan' } }),
      );
      assert.equal(await refused(page, 'network'), 0);
      await page.unroute('**/api/provision/team');
      assertQuiet(watched, [/ 402 /]);

      const lee = { email: 'lee@example.org', password: 'correct horse battery' };
      const registered = await fetch(`${stage.platform.url}/api/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...lee, name: 'Lee' }),
      });
      const { id } = (await registered.json()) as { id: string };
      await caller.call('PATCH', `/api/admin/users/${id}`, { plan: 'collective', subscriptionStatus: 'active' });
      const other = await openPage(stage.browser, stage.platform.url);
      await enter(other.page, lee);
      assert.equal(await refused(other.page, 'network'), 1);
      assertQuiet(other, [/ 40[23] /]);
      await other.context.close();
    });

    test('a tool that cannot run here says why, and is not offered', async () => {
      const { page } = watched;
      const { shell } = await caller.call<{ shell: { reason: string | null } }>('GET', '/api/abilities');
      assert.ok(shell.reason === null || shell.reason.length > 0);
      await page.route('**/api/abilities', (route) =>
        route.fulfill({
          json: { shell: { reason: 'bubblewrap is not installed' }, browser: { reason: 'Chromium is not installed' } },
        }),
      );
      await settle(page, '/dashboard/agents/new');
      await page.locator('summary', { hasText: 'What it may do' }).click();
      await page.getByText('Cannot run here: Chromium is not installed').waitFor();
      const off = await page.getByRole('checkbox', { name: /Cannot run here/ }).all();
      assert.equal(off.length, 4, 'the shell, code, jobs and the browser');
      for (const box of off) assert.equal(await box.isDisabled(), true);
      await page.unroute('**/api/abilities');
      assertQuiet(watched);
    });

    test('names are whole words on a tablet, and are cut at their own end', async () => {
      const { page } = watched;
      await page.setViewportSize({ width: 800, height: 1100 });
      await settle(page, '/dashboard/admin');
      // One line: no word of it is broken.
      const cell = page.getByRole('cell', { name: 'kim@example.org' }).first();
      assert.ok((await cell.boundingBox())!.height < 40, 'an address is broken into pieces');
      await settle(page, '/dashboard');
      const name = page.getByRole('link', { name: hebrew }).locator('[dir=auto]').first();
      assert.equal(await name.evaluate((node) => node.matches(':dir(rtl)')), true);
      assertQuiet(watched);
    });

    test('a receipt shows the answer and not its marks, and a next run is never in the past', async () => {
      const { page } = watched;
      await caller.call('PUT', '/api/usage/caps', { scope: 'user', period: 'month', limitUsd: null });
      const task = await caller.call<{ id: string }>('POST', '/api/scheduled-tasks', {
        name: 'Morning',
        cronSchedule: '0 9 * * *',
        prompt: 'The plan, please',
        agentId,
      });
      const { receiptId } = await caller.call<{ receiptId: string }>('POST', `/api/scheduled-tasks/${task.id}/run`, {});
      const run = `/api/scheduled-tasks/${task.id}/runs/${receiptId}`;
      await soon(async () => assert.equal((await caller.call<{ status: string }>('GET', run)).status, 'succeeded'));
      await page.route('**/api/scheduled-tasks?*', late);
      await page.route('**/api/scheduled-tasks', late);
      await settle(page, '/dashboard/tasks');
      const row = page.getByRole('row', { name: /Morning/ }).first();
      await row.getByText('due now').waitFor();
      await page.unroute('**/api/scheduled-tasks?*');
      await page.unroute('**/api/scheduled-tasks');
      await row.getByRole('button', { name: 'Morning', exact: true }).click();
      const receipt = page.getByRole('dialog', { name: 'Morning' });
      await receipt.locator('strong', { hasText: 'early' }).waitFor();
      assert.equal(await receipt.getByText('**early**').count(), 0);
      await page.keyboard.press('Escape');
      assertQuiet(watched);
    });
  },
  { OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: model.url },
);
