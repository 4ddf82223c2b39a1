import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import type { Page } from 'playwright-core';
import { assertAccessible, assertQuiet, enter, openPage, settle, soon } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller, type Caller } from './content.ts';
import { MOST_SCRIPT, scriptSize } from './script-size.ts';
import { browserSuite } from './suite.ts';

interface Spoken {
  role: string;
  content: string | null;
}

/** Writes the file that it is told to, and says so at some length; greets otherwise. */
const model: StandIn = await createStandIn((request, response) => {
  const messages = (request.body['messages'] ?? []) as Spoken[];
  const text = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const path = /write (\S+)/.exec(text)?.[1];
  const isDone = messages.at(-1)?.role === 'tool';
  const usage = { prompt_tokens: 20_000, completion_tokens: isDone ? 20_000 : 1000 };
  if (path && !isDone) {
    const args = JSON.stringify({ path, content: 'Berlin, 5 May' });
    return replyChat(request, response, {
      content: null,
      toolCalls: [{ id: `call_${path}`, name: 'write_file', arguments: args }],
      usage,
    });
  }
  replyChat(request, response, { content: path ? `It stands in ${path}.\nBerlin is on 5 May.` : 'Hello.', usage });
});

const RUN = String.raw`/dashboard/runs/[\w-]{22}~[\w-]{22}(~\d+)?`;

browserSuite(
  'runs have addresses, and the search finds what agents hold',
  (stage) => {
    let agentId = '';
    let sessionId = '';
    let call: Caller['call'];
    let watched: WatchedPage;
    let page: Page;
    let compared = '';
    before(async () => {
      ({ call } = await signedInCaller(stage.platform, stage.platform.owner));
      const made = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
        name: 'Ada',
        model: 'xiaomi/mimo-v2-pro',
        config: { tools: ['filesystem'] },
      });
      agentId = made.agent.id;
      await call('POST', '/api/agents/provision', { name: 'Bo', model: 'xiaomi/mimo-v2-pro', config: { tools: [] } });
      await call('POST', '/api/chat', { agentId, message: 'Good day' });
      await call('POST', '/api/chat', { agentId, message: 'Please write reports/tour.md' });
      const { sessions } = await call<{ sessions: { id: string }[] }>('GET', `/api/agents/${agentId}/sessions`);
      sessionId = sessions[0]!.id;
      await call('PATCH', `/api/agents/${agentId}/sessions/${sessionId}`, { title: 'Spring tour' });
      watched = await openPage(stage.browser, stage.platform.url);
      ({ page } = watched);
      await enter(page, stage.platform.owner);
    });
    after(async () => {
      await watched?.context.close();
      await model.close();
    });

    test('a run has a short address of its own; the one that it had leads to it', async () => {
      await settle(page, `/dashboard/agents/${agentId}?tab=chat`);
      const answer = page.getByRole('log').locator('article', { hasText: 'It stands in' });
      await answer.hover();
      await answer.getByRole('link', { name: 'Steps' }).click();
      await page.waitForURL(new RegExp(`${RUN}$`));
      await page.getByRole('heading', { name: 'A run, step by step' }).waitFor();
      await page.getByText(/^The longest step: .+, .+ % of the work$/).waitFor();
      await page.getByRole('button', { name: /^Tool Write reports\/tour\.md/ }).click();
      await page.waitForURL(/\?step=\d+$/);
      const address = page.url();
      assert.ok(new URL(address).pathname.length <= 64, address);

      await settle(page, address);
      await page.getByText(/^Step 3 of 4\. Looking changes nothing\.$/).waitFor();
      const file = page.locator('details').filter({ has: page.locator('summary', { hasText: 'reports/tour.md' }) });
      await file.locator('summary').click();
      await file.getByLabel('reports/tour.md at this step').getByText('Berlin, 5 May').waitFor();
      await file.getByRole('link', { name: 'What is in it now' }).waitFor();
      await assertAccessible(page, 'a file as it was');
      // However far one has gone down the steps, what is in one stands beside them.
      await page.setViewportSize({ width: 1280, height: 340 });
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
      await soon(async () => {
        const box = await page.getByRole('button', { name: 'Fork from here' }).boundingBox();
        assert.ok(box && box.y >= 0 && box.y + box.height <= 340, `it stands at ${box?.y}`);
      });
      await page.setViewportSize({ width: 1280, height: 860 });
      await page.getByRole('link', { name: 'Agents' }).first().waitFor();
      await settle(page, `/dashboard/agents/${agentId}/runs/${sessionId}?run=1&step=2`);
      await page.waitForURL(new RegExp(String.raw`${RUN}\?step=2$`));
      await page.getByText('Hello.').first().waitFor();
      assertQuiet(watched);
    });

    test('a run is worked by keys: steps, link, fork, compare; they can be switched off', async () => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await settle(page, `/dashboard/agents/${agentId}/runs/${sessionId}?run=1`);
      await page.getByRole('button', { name: /^Prompt/ }).waitFor();
      await page.keyboard.press('k');
      await page.getByText('Step 1 of 2. Looking changes nothing.').waitFor();
      await page.keyboard.press('j');
      await page.getByText('Step 1 of 2.').first().waitFor({ state: 'detached' });
      await page.keyboard.press('ArrowLeft');
      await page.getByText('Step 1 of 2.').waitFor();
      await page.keyboard.press('y');
      await page.getByText('Copied').first().waitFor();
      assert.equal(await page.evaluate('navigator.clipboard.readText()'), page.url());
      await page.keyboard.press('f');
      const fork = page.getByRole('dialog', { name: /^Fork/ });
      await fork.getByLabel('What to say there').waitFor();
      // While a dialog is open its keys are letters.
      await page.keyboard.press('c');
      assert.equal(await page.getByRole('dialog', { name: 'Compare with another run' }).count(), 0);
      await page.keyboard.press('Escape');
      await fork.waitFor({ state: 'detached' });
      await page.keyboard.press('c');
      const compare = page.getByRole('dialog', { name: 'Compare with another run' });
      await compare.waitFor();
      await page.keyboard.press('Escape');
      await compare.waitFor({ state: 'detached' });

      await page.keyboard.press('?');
      const keys = page.getByRole('dialog', { name: 'Keys' });
      await keys.getByText('Copy the link to this step').waitFor();
      await assertAccessible(page, 'all keys');
      await keys.getByLabel('Use keys of one letter').click();
      await page.keyboard.press('Escape');
      await keys.waitFor({ state: 'detached' });
      for (const key of ['f', 'c', '?', 'g', 'i']) await page.keyboard.press(key);
      for (const dialog of [fork, compare, keys]) assert.equal(await dialog.count(), 0);
      assert.match(page.url(), /\/runs\//);
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search and commands' }).fill('all keys');
      await page.keyboard.press('Enter');
      await keys.getByLabel('Use keys of one letter').click();
      await page.keyboard.press('Escape');
      await keys.waitFor({ state: 'detached' });
      for (const [second, path] of [
        ['i', /inbox$/],
        ['a', /agents$/],
        ['t', /tasks$/],
        ['m', /cost$/],
        ['s', /dashboard$/],
      ] as const) {
        await page.keyboard.press('g');
        await page.keyboard.press(second);
        await page.waitForURL(path);
      }
      await page.keyboard.press('/');
      await page.getByRole('combobox', { name: 'Search and commands' }).waitFor();
      await page.keyboard.press('Escape');
      assertQuiet(watched);
    });

    test('on a phone the steps are in sight at once, and what is in one comes up below them', async () => {
      const size = { width: 375, height: 720 };
      const phone = await openPage(stage.browser, stage.platform.url, {
        viewport: size,
        hasTouch: true,
        isMobile: true,
      });
      const on = phone.page;
      await enter(on, stage.platform.owner);
      await settle(on, `/dashboard/agents/${agentId}/runs/${sessionId}?run=1`);
      const within = async (what: ReturnType<Page['getByRole']>, from: number, to: number) => {
        const at = await what.boundingBox();
        assert.ok(at && at.y >= from && at.y + at.height <= to, `it stands from ${at?.y}, ${at?.height} high`);
        return at;
      };
      // Above the bar at the lower edge, without scrolling.
      const [prompt, answer] = [
        on.getByRole('button', { name: /^Prompt/ }),
        on.getByRole('button', { name: /^Model MiMo/ }),
      ];
      await answer.waitFor();
      await within(prompt, 0, size.height - 57);
      await within(answer, 0, size.height - 57);
      for (const name of ['Copy link', 'Compare']) {
        const { height } = await within(on.getByRole('button', { name }), 0, size.height);
        assert.ok(height >= 44, `${name} is ${height} px high`);
      }
      const sheet = on.getByRole('region', { name: 'Step 1 of 2' });
      assert.equal(await on.getByRole('region', { name: /^Step / }).count(), 0);

      await prompt.tap();
      await on.waitForURL(/\?step=\d+$/);
      await sheet.waitFor();
      await soon(async () => {
        const { y } = await within(sheet, size.height * 0.3, size.height);
        await within(prompt, 50, y);
        await within(sheet.getByRole('button', { name: 'Fork from here' }), y, size.height);
        assert.equal(await sheet.evaluate((node) => node.matches(':focus')), true);
      });
      await assertAccessible(on, 'a step on a phone');
      await sheet.getByRole('button', { name: 'Step after' }).tap();
      const second = on.getByRole('region', { name: 'Step 2 of 2' });
      await soon(async () => {
        const { y } = await within(second, size.height * 0.3, size.height);
        await within(answer, 50, y);
      });
      // Back closes it, and leads to where one was.
      await on.goBack();
      await second.waitFor({ state: 'hidden' });
      assert.match(on.url(), new RegExp(`${RUN}$`));
      await soon(async () => assert.equal(await prompt.evaluate((node) => node.matches(':focus')), true));
      await answer.tap();
      await second.getByRole('button', { name: 'Close' }).tap();
      await second.waitFor({ state: 'hidden' });
      assert.match(on.url(), new RegExp(`${RUN}$`));
      await prompt.tap();
      await sheet.waitFor();
      await on.keyboard.press('Escape');
      await sheet.waitFor({ state: 'hidden' });
      // An address with a step shows it; to close it then needs nothing to go back to.
      await settle(on, `${on.url()}?step=1`);
      await sheet.getByRole('button', { name: 'Close' }).tap();
      await sheet.waitFor({ state: 'hidden' });
      assert.match(on.url(), new RegExp(`${RUN}$`));
      // There Enter breaks a line: a thumb has no Shift, and what is half written is not sent.
      await on.getByRole('link', { name: 'Conversation' }).tap();
      const box = on.getByLabel('Message');
      await box.fill('One line');
      await box.press('Enter');
      await box.pressSequentially('and another');
      assert.equal(await box.inputValue(), 'One line\nand another');
      assert.equal(await on.getByRole('log').getByText('One line').count(), 0);
      assertQuiet(phone);
      await phone.context.close();
    });

    test('an address that names no run says so, and so does one of somebody else', async () => {
      for (const name of ['nonsense', `${'A'.repeat(22)}~${'A'.repeat(22)}`]) {
        await page.goto(`/dashboard/runs/${name}`);
        await page.getByText('There is no such run, or it is not yours.').waitFor();
      }
      assertQuiet(watched, [/ 404 .*\/api\/agents\/00000000/]);
    });

    test('two runs stand side by side, at an address that says which', async () => {
      await settle(page, `/dashboard/agents/${agentId}/runs/${sessionId}?run=1`);
      await page.getByRole('button', { name: 'Compare' }).click();
      const dialog = page.getByRole('dialog', { name: 'Compare with another run' });
      await dialog.getByRole('option', { name: /write reports/ }).waitFor({ state: 'attached' });
      assert.match(await dialog.getByLabel('Run', { exact: true }).innerText(), /write reports\/tour\.md/);
      await assertAccessible(page, 'the choice of another run');
      await dialog.getByRole('button', { name: 'Compare' }).click();
      await page.waitForURL(new RegExp(`${RUN}/compare/[\\w~-]+$`));
      compared = page.url();
      const figures = page.getByRole('table', { name: 'Figures' });
      await figures.getByRole('row', { name: /^Cost .* more/ }).waitFor();
      await figures.getByRole('row', { name: /^Model MiMo.* the same$/ }).waitFor();
      await page.getByText('by the second run alone').waitFor();
      const steps = page.getByRole('table', { name: 'Steps' });
      await steps.getByRole('link', { name: 'Write reports/tour.md' }).waitFor();
      assert.equal(await steps.getByRole('row').count(), 1 + 4);
      await page.getByText('The answers line by line').click();
      await page.getByLabel('The answers line by line').getByText('+ Berlin is on 5 May.').waitFor();
      await assertAccessible(page, 'two runs, light');
      await page.evaluate("document.documentElement.dataset.theme = 'dark'");
      await assertAccessible(page, 'two runs, dark', 'colours');
      await page.setViewportSize({ width: 360, height: 740 });
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      assert.ok(wide <= 0, `${wide} px wider than a phone`);
      await page.setViewportSize({ width: 1280, height: 860 });
      assertQuiet(watched);
    });

    test('whoever gets that address sees the same two, the other way round if wanted', async () => {
      const colleague = await openPage(stage.browser, stage.platform.url);
      await enter(colleague.page, stage.platform.owner);
      const size = await scriptSize(colleague.page, () => settle(colleague.page, compared));
      assert.ok(size <= MOST_SCRIPT, `${size} bytes of gzipped JavaScript`);
      await colleague.page.getByRole('row', { name: /^Cost .* more/ }).waitFor();
      await colleague.page.getByRole('link', { name: 'The other way round' }).click();
      await colleague.page.getByRole('row', { name: /^Cost .* less/ }).waitFor();
      await colleague.page.getByRole('link', { name: 'Steps of the first run' }).click();
      await colleague.page.waitForURL(new RegExp(`${RUN}$`));
      assertQuiet(colleague);
      await colleague.context.close();
    });

    test('Ctrl K finds a conversation by its title and by what was said, and a file, with few requests', async () => {
      await settle(page, '/dashboard');
      const asked: string[] = [];
      page.on('request', (request) => {
        const { pathname } = new URL(request.url());
        if (pathname.startsWith('/api/agents/') || pathname === '/api/search') asked.push(pathname);
      });
      await page.keyboard.press('Control+k');
      const box = page.getByRole('combobox', { name: 'Search and commands' });
      await box.pressSequentially('spring tour', { delay: 20 });
      const option = page.getByRole('option', { name: /Spring tour/ });
      await option.getByText('Ada: Conversation').waitFor();
      await assertAccessible(page, 'what the search found');
      assert.ok(asked.length <= 8, asked.join('\n'));
      assert.ok(asked.filter((path) => path === '/api/search').length <= 2, asked.join('\n'));
      await page.keyboard.press('Enter');
      await page.waitForURL(new RegExp(`c=${sessionId}$`));
      await page.getByRole('log').getByText('It stands in').waitFor();

      await page.keyboard.press('Control+k');
      await box.fill('tour.md');
      await page.getByRole('option', { name: /reports\/tour\.md/ }).click();
      await page.waitForURL(/tab=files.*file=reports/);
      await page.getByRole('dialog').getByText('Berlin, 5 May').waitFor();
      await page.keyboard.press('Escape');

      await page.keyboard.press('Control+k');
      await box.fill('good day');
      await page.getByRole('option', { name: /Spring tour/ }).waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(/[?&]at=\d+/);
      await page.keyboard.press('Control+k');
      await box.fill('nothing has these words');
      await page.getByText('Nothing found').waitFor();
      await page.keyboard.press('Escape');
      assertQuiet(watched);
    });

    test('a sentence that is said twice makes agents that can be told apart', async () => {
      const sentence = 'each morning read example.com and tell me what is new';
      const say = async () => {
        await settle(page, '/dashboard/say');
        await page.getByLabel('What should be done?').fill(sentence);
        await page.getByRole('button', { name: 'Read it' }).click();
        await page.getByRole('button', { name: 'Have it read by rules' }).click();
        await page.getByText('The plan').waitFor();
      };
      await say();
      await page.getByText(/^Scout, with /).waitFor();
      // Meanwhile somebody makes one of that name.
      await call('POST', '/api/agents/provision', { name: 'Scout', model: 'xiaomi/mimo-v2-pro' });
      await settle(page, '/dashboard/say');
      await page.getByText('You have an agent called Scout already.').waitFor();
      await assertAccessible(page, 'a name that is taken');
      await page.getByRole('button', { name: 'Call it Scout 2' }).click();
      await page.getByText(/^Scout 2, with /).waitFor();
      await page.getByRole('button', { name: 'Start again' }).click();
      await say();
      await page.getByText(/^Scout 2, with /).waitFor();
      assertQuiet(watched, [/ 502 .*\/api\/say/]);
    });
  },
  { OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: model.url },
);
