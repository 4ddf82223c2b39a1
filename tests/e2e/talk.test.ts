import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, assertQuiet, enter, openPage, say, settle, soon } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import { browserSuite } from './suite.ts';
import { createWordsModel } from './words-model.ts';

const model = await createWordsModel();
/** What Chromium says when nobody answers. */
const NOBODY = [
  /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|Failed to fetch|PageAway/,
];

const log = (page: Page) => page.getByRole('log');
const fromEnd = (page: Page) => log(page).evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight);

browserSuite(
  'talking to an agent, in the browser',
  (stage) => {
    let watched: WatchedPage;
    const ids: string[] = [];
    const chat = (index = 0) => `/dashboard/agents/${ids[index]}?tab=chat`;
    before(async () => {
      const { call } = await signedInCaller(stage.platform, stage.platform.owner);
      for (const name of ['Ada', 'Bert']) {
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

    test('who leaves in the middle of an answer finds it, the draft and Stop when they come back', async () => {
      const { page } = watched;
      await settle(page, chat());
      await say(page, 'Tell me a story');
      await model.write('Once upon a time ');
      await log(page).getByText('Once upon a time').waitFor();
      await page.getByLabel('Message').fill('And then');
      await page.getByRole('link', { name: 'Overview' }).first().click();
      await page.getByRole('heading', { name: /^Hello/ }).waitFor();
      await model.write('there was an agent ');
      await page.goBack();
      await log(page).getByText('Once upon a time there was an agent').waitFor();
      assert.equal(await page.getByLabel('Message').inputValue(), 'And then');
      await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
      // The same after a reload, and the story goes on.
      await page.reload();
      await model.write('who waited.');
      await log(page).getByText('Once upon a time there was an agent who waited.').waitFor();
      assert.equal(await page.getByLabel('Message').inputValue(), 'And then');
      await model.finish();
      await page.getByRole('button', { name: 'Stop', exact: true }).first().waitFor({ state: 'detached' });
      assert.equal(await log(page).getByText('Once upon a time').count(), 1);
      // What can be done with the last answer is seen without pointing at it.
      await page.mouse.move(0, 0);
      const again = `[...document.querySelectorAll('[role=log] [aria-label="Answer again"]')].at(-1)`;
      await soon(async () =>
        assert.equal(await page.evaluate(`getComputedStyle(${again}.parentElement).opacity`), '1'),
      );
      await assertAccessible(page, 'a conversation');
      assertQuiet(watched);
    });

    test('who scrolls up while it writes stays there, and is told that there is more', async () => {
      const { page } = watched;
      await settle(page, chat());
      await say(page, 'Tell me a long story');
      await model.write(Array.from({ length: 60 }, (_, at) => `Line ${at} of the story.`).join('\n\n'));
      await log(page).getByText('Line 59 of the story.').waitFor();
      await log(page).evaluate((node) => (node.scrollTop = 40));
      await model.write('\n\nAnd a last line.');
      await page.getByRole('button', { name: 'New below' }).waitFor();
      assert.equal(await log(page).evaluate((node) => node.scrollTop), 40);
      await page.getByRole('button', { name: 'New below' }).click();
      await log(page).getByText('And a last line.').waitFor();
      assert.ok((await fromEnd(page)) < 80);
      assertQuiet(watched);
    });

    test('Stop keeps what was said, and says what it cost', async () => {
      const { page } = watched;
      await page.getByRole('button', { name: 'Stop', exact: true }).click();
      await log(page)
        .getByText(/^Stopped by you\. \$0\.\d*[1-9]\d*\.$/)
        .waitFor();
      await page.reload();
      await log(page).getByText('And a last line.').waitFor();
      await log(page)
        .getByText(/^Stopped by you\. \$0\.\d*[1-9]\d*\.$/)
        .waitFor();
      await model.finish();
      assertQuiet(watched);
    });

    test('Ctrl Enter stops an answer, and what was written instead is answered', async () => {
      const { page } = watched;
      await settle(page, chat());
      await say(page, 'Tell me another story');
      await model.write('Far away ');
      await log(page).getByText('Far away').waitFor();
      await page.getByLabel('Message').fill('Rather the weather');
      await page.getByLabel('Message').press('Control+Enter');
      await log(page).getByText('You said: Rather the weather').waitFor();
      await page.getByRole('button', { name: 'Stop', exact: true }).first().waitFor({ state: 'detached' });
      const words = await log(page).innerText();
      const places = ['Far away', 'Stopped by you', 'Rather the weather', 'You said: Rather'].map((one) =>
        words.lastIndexOf(one),
      );
      assert.ok(places.every((at) => at >= 0));
      assert.ok(places[0]! < places[1]! && places[1]! < places[3]!, 'what was stopped stands above what was said then');
      // The same after a reload: nothing is left open.
      await page.reload();
      await log(page).getByText('You said: Rather the weather').waitFor();
      assert.equal(await page.getByRole('button', { name: 'Stop', exact: true }).count(), 0);
      await model.finish();
      assertQuiet(watched);
    });

    test('what came since somebody left stands below a line, and what comes below them is counted', async () => {
      const { page } = watched;
      await settle(page, chat(1));
      const line = page.locator('[data-new]');
      await say(page, 'Hello');
      await log(page).getByText('You said: Hello').waitFor();
      await log(page)
        .getByText(/^2 steps/)
        .waitFor();
      assert.equal(await line.count(), 0);
      await page.getByRole('link', { name: 'Overview' }).first().click();
      await page.getByRole('heading', { name: /^Hello/ }).waitFor();
      const { call } = await signedInCaller(stage.platform, stage.platform.owner);
      type Head = { id: string };
      const { sessions } = await call<{ sessions: Head[] }>('GET', `/api/agents/${ids[1]}/sessions`);
      const sessionId = sessions[0]!.id;
      const tell = (message: string) => call('POST', `/api/agents/${ids[1]}/messages`, { message, sessionId });
      await tell('While you were away');
      await soon(async () => {
        const path = `/api/agents/${ids[1]}/sessions/${sessionId}`;
        const { events } = await call<{ events: { content?: string }[] }>('GET', path);
        assert.ok(events.some(({ content }) => content === 'You said: While you were away'));
      });
      await page.goBack();
      await log(page).getByText('You said: While you were away').waitFor();
      await line.getByText('New', { exact: true }).waitFor();
      const words = await log(page).innerText();
      const places = ['You said: Hello', 'New', 'You said: While'].map((one) => words.indexOf(one));
      assert.ok(places[0]! >= 0 && places[0]! < places[1]! && places[1]! < places[2]!, places.join());
      await assertAccessible(page, 'a conversation with something new');

      await page.setViewportSize({ width: 1280, height: 620 });
      await tell(Array.from({ length: 40 }, (_, at) => `Line ${at}`).join('\n\n'));
      await log(page)
        .getByText(/^You said: Line 0/)
        .waitFor();
      // What is still being written when somebody scrolls away would be new, too.
      await log(page)
        .getByText(/^2 steps/)
        .nth(2)
        .waitFor();
      await log(page).evaluate((node) => (node.scrollTop = 0));
      await soon(async () => assert.ok((await fromEnd(page)) > 80));
      await tell('One');
      await page.getByRole('button', { name: '2 new below' }).click();
      await log(page).getByText('You said: One').waitFor();
      assert.equal(await page.getByRole('button', { name: 'new below' }).count(), 0);
      await page.setViewportSize({ width: 1280, height: 860 });
      // Nothing is new to whoever has seen it.
      await page.reload();
      await log(page).getByText('You said: One').waitFor();
      assert.equal(await line.count(), 0);
      assertQuiet(watched);
    });

    test('a slash offers commands and an at sign agents, by keys alone; choosing sends nothing', async () => {
      const { page } = watched;
      await settle(page, chat());
      const field = page.getByLabel('Message');
      const list = page.getByRole('listbox', { name: 'What can be named here' });
      const said = await log(page).locator('article').count();
      await field.focus();
      await page.keyboard.type('/');
      await list.waitFor();
      assert.match(await list.innerText(), /\/attach[\s\S]*\/model[\s\S]*\/new[\s\S]*\/compare[\s\S]*\/search/);
      assert.doesNotMatch(await list.innerText(), /\/stop/);
      const meant = () =>
        page.evaluate<string>(
          `document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.textContent ?? ''`,
        );
      assert.match(await meant(), /^\/attach/);
      await page.keyboard.press('ArrowDown');
      assert.match(await meant(), /^\/model/);
      await assertAccessible(page, 'commands where one writes');
      await page.keyboard.press('Escape');
      await list.waitFor({ state: 'detached' });
      await field.fill('');
      await page.keyboard.type('/sea');
      await page.keyboard.press('Enter');
      await page.getByRole('combobox', { name: 'Search and commands' }).waitFor();
      await page.keyboard.press('Escape');
      assert.equal(await field.inputValue(), '');

      await field.focus();
      await page.keyboard.type('Ask @be');
      await list.getByRole('option', { name: /^@Bert/ }).waitFor();
      await page.keyboard.press('Tab');
      assert.equal(await field.inputValue(), 'Ask @Bert ');
      await page.keyboard.type('about ann@example.com');
      assert.equal(await list.count(), 0);
      await field.fill('');
      await page.keyboard.type('/new');
      await page.keyboard.press('Enter');
      await page.waitForURL(/[?&]c=new-/);
      assert.equal(await field.inputValue(), '');
      await page.goBack();
      await log(page).getByText('You said: Rather the weather').waitFor();
      assert.equal(await log(page).locator('article').count(), said);
      assertQuiet(watched);
    });

    test('killed in the middle of an answer: nothing typed or said is lost, and the answer goes on', async () => {
      const { page } = watched;
      await settle(page, chat(1));
      await say(page, 'Tell me a story of the sea');
      await model.write('There was a ship ');
      await log(page).getByText('There was a ship').waitFor();
      await stage.platform.kill();
      model.leave();
      await page.getByText(/^No connection since \d\d:\d\d\./).waitFor();
      assert.equal(await log(page).getByText('There was a ship').count(), 1, 'what was said went with who said it');
      await say(page, 'And the captain of the story?');
      await page.getByLabel('Message').fill('A thought at sea');

      await stage.platform.revive();
      await model.write('There was a ship, and she came home.');
      await log(page).getByText('There was a ship, and she came home.').waitFor();
      await model.finish();
      const told = log(page).getByText('What was half written is written anew.');
      const isWhole = async (look: string) => {
        const words = await log(page).innerText();
        const said = ['Tell me a story of the sea', 'The platform broke off here', 'she came home'];
        const places = said.map((one) => words.indexOf(one));
        assert.ok(
          places.every((at, index) => at > (places[index - 1] ?? -1)),
          `${look}: ${places.join()}`,
        );
        for (const one of ['There was a ship', 'Tell me a story of the sea', 'And the captain of the story?'])
          assert.equal(words.split(one).length, 2, `${look}: ${one}`);
        assert.equal(await page.getByLabel('Message').inputValue(), 'A thought at sea');
        assert.equal(await page.getByRole('button', { name: 'Stop', exact: true }).count(), 0);
      };
      await told.waitFor();
      await soon(() => isWhole('as it happened'));
      await page.reload();
      await told.waitFor();
      await soon(() => isWhole('after a reload'));
      await page.getByLabel('Message').fill('');
      assertQuiet(watched, NOBODY);
    });

    test('while the platform is away what was written is kept, and sent when it is back', async () => {
      const { page } = watched;
      await settle(page, chat());
      await page.evaluate('navigator.serviceWorker.ready.then(() => true)');
      await stage.platform.kill();
      await page.getByText(/^No connection since \d\d:\d\d\./).waitFor();
      await say(page, 'Written in the dark');
      await log(page).getByText('Kept here. It is sent when the platform answers.').waitFor();
      await page.getByLabel('Message').fill('A thought');

      // A page that was not loaded yet is ours, and so is one that is opened now.
      await page.getByRole('link', { name: 'Underground' }).first().click();
      await page.getByRole('heading', { name: 'The platform cannot be reached' }).waitFor();
      await page.goto(chat());
      await page.getByText('This page is tried again every few seconds.').waitFor();
      await assertAccessible(page, 'the page while the platform is away');

      await stage.platform.revive();
      await log(page).getByText('You said: Written in the dark').waitFor();
      assert.equal(await log(page).getByText('Written in the dark', { exact: true }).count(), 1);
      assert.equal(await page.getByLabel('Message').inputValue(), 'A thought');
      await page
        .getByText(/^No connection/)
        .first()
        .first()
        .waitFor({ state: 'detached' });
      assertQuiet(watched, NOBODY);
    });
  },
  // the server of its own: it dies with the platform, and comes back with it
  { ...model.env, DATABASE_URL: '' },
);
