import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { assertAccessible, assertQuiet, enter, openPage, settle, soon } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller, type Caller } from './content.ts';
import { browserSuite } from './suite.ts';

interface Spoken {
  role: string;
  content: string | null;
}

/** Writes a file when it is asked to, and greets otherwise. */
const model: StandIn = await createStandIn((request, response) => {
  const messages = (request.body['messages'] ?? []) as Spoken[];
  const isAsked = messages.at(-1)?.role === 'user' && messages.at(-1)?.content?.includes('plan');
  const toolCalls = [{ id: 'call_1', name: 'write_file', arguments: '{"path":"plan.md","content":"Berlin on 5 May"}' }];
  replyChat(request, response, isAsked ? { content: null, toolCalls } : { content: 'Good to see you.' });
});

browserSuite(
  'joining, and what waits for a decision',
  (stage) => {
    let boss: WatchedPage;
    let caller: Caller;
    before(async () => {
      caller = await signedInCaller(stage.platform, stage.platform.owner);
      boss = await openPage(stage.browser, stage.platform.url);
      await enter(boss.page, stage.platform.owner);
    });
    after(async () => {
      await boss?.context.close();
      await model.close();
    });

    test('an administrator says who may join, and the page for new accounts says so', async () => {
      const { page } = boss;
      const rule = async (who: string, plan: string, days?: string): Promise<void> => {
        await settle(page, '/dashboard/admin?tab=invites');
        await page.getByLabel('New accounts').selectOption(who);
        await page.getByLabel('Begin with').selectOption(plan);
        if (days !== undefined) await page.getByLabel('For how many days').fill(days);
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByText('Saved. It counts for the next new account.').waitFor();
      };
      await rule('invite', 'solo', '14');
      await assertAccessible(page, 'who may join');
      assert.deepEqual(await caller.call('GET', '/api/admin/joining'), { mode: 'invite', plan: 'solo', days: 14 });
      const watched = await openPage(stage.browser, stage.platform.url);
      await settle(watched.page, '/signup');
      await watched.page.getByText(/takes new people by invitation/).waitFor();
      assert.equal(await watched.page.getByLabel('E-mail').count(), 0);
      await assertAccessible(watched.page, 'a sign-up that needs an invitation');
      await watched.page.getByRole('link', { name: 'I have an invitation' }).click();
      await watched.page.getByLabel('Invitation code').waitFor();
      assertQuiet(watched);
      await watched.context.close();
      await rule('open', '');
      assert.deepEqual(await caller.call('GET', '/api/admin/joining'), { mode: 'open', plan: null, days: null });
      await settle(page, '/dashboard');
    });

    test('who signs up asks for access, is granted it live, and gets a first answer', async () => {
      const watched = await openPage(stage.browser, stage.platform.url);
      const { page } = watched;
      await page.goto('/signup');
      await page.getByLabel('Name').fill('Robin');
      await page.getByLabel('E-mail').fill('robin@example.org');
      await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
      await page.getByRole('button', { name: 'Create account' }).click();
      await page.getByRole('heading', { name: 'Hello, Robin' }).waitFor();
      await page.getByLabel('A note to the administrators').fill('I plan the tour.');
      await assertAccessible(page, 'asking for access');
      await page.getByRole('button', { name: 'Ask for access' }).click();
      await page.getByText(/^Asked \d\d:\d\d\. This page changes by itself/).waitFor();
      // Neither the plans nor a new agent lead to a wall.
      for (const path of ['/dashboard/billing', '/dashboard/agents/new']) {
        await settle(page, path);
        await page.getByText(/^Asked \d\d:\d\d\./).waitFor();
        assert.equal(await page.getByText(/£|Payment processor/).count(), 0);
      }

      // The administrator has had the overview open all the time.
      const request = boss.page.getByRole('group', { name: 'Robin asks for access' });
      await request.getByText('I plan the tour.').waitFor();
      await assertAccessible(boss.page, 'the overview with a request');
      await request.getByRole('button', { name: 'Grant' }).click();
      await request.waitFor({ state: 'detached' });

      await page.getByRole('button', { name: 'Create agent' }).waitFor();
      await page.getByLabel('Name').fill('Scout');
      await page.getByRole('button', { name: 'Create agent' }).click();
      await page.getByLabel('Message').fill('Hello');
      await page.getByLabel('Message').press('Enter');
      await page.getByRole('log').getByText('Good to see you.').waitFor();
      assertQuiet(watched);
      assertQuiet(boss);
      await watched.context.close();
    });

    test('the overview of who was granted access says so', async () => {
      const watched = await openPage(stage.browser, stage.platform.url);
      const { page } = watched;
      const newcomer = { email: 'kim@example.org', password: 'correct horse battery', name: 'Kim' };
      const registered = await fetch(`${stage.platform.url}/api/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(newcomer),
      });
      const { id } = (await registered.json()) as { id: string };
      await enter(page, newcomer);
      await settle(page, '/dashboard');
      await page.getByRole('button', { name: 'Ask for access' }).click();
      await page.getByText(/^Asked \d\d:\d\d\./).waitFor();
      await caller.call('POST', `/api/admin/access/${id}`, { grant: 'collective' });
      await page.getByText('You are in, with Collective.').waitFor();
      await page.getByRole('link', { name: 'Make your first agent' }).waitFor();
      assertQuiet(watched);
      await watched.context.close();
    });

    test('a call that waits is on the overview with what it would do, and is decided in the inbox by the keyboard', async () => {
      const { page } = boss;
      const { agent } = await caller.call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
        name: 'Desk',
        model: 'xiaomi/mimo-v2-pro',
        config: { tools: ['filesystem'], safety: { approvals: { filesystem: 'ask' } } },
      });
      await settle(page, '/dashboard');
      for (const topic of ['one', 'two'])
        await caller.call('POST', `/api/agents/${agent.id}/messages`, { message: 'Write the plan', topic });
      // It was open before they asked.
      const card = page.getByRole('group', { name: 'Wants to write plan.md' });
      await card.nth(1).waitFor();
      await card.first().getByText('Berlin on 5 May').waitFor();
      await page.getByRole('link', { name: 'Inbox 2' }).first().click();
      await page.getByRole('heading', { name: 'Inbox', exact: true }).waitFor();
      await card.nth(1).waitFor();
      await assertAccessible(page, 'the inbox');
      await page.keyboard.press('a');
      await card.nth(1).waitFor({ state: 'detached' });
      await page.keyboard.press('j');
      await page.keyboard.press('r');
      await page.getByText('Nothing waits for you').waitFor();
      const { sessions } = await caller.call<{ sessions: { id: string; key: string }[] }>(
        'GET',
        `/api/agents/${agent.id}/sessions`,
      );
      const decided = async ({ id }: { id: string }) => {
        const { events } = await caller.call<{ events: { approved?: boolean }[] }>(
          'GET',
          `/api/agents/${agent.id}/sessions/${id}`,
        );
        return events.find(({ approved }) => approved !== undefined)?.approved;
      };
      await soon(async () =>
        assert.deepEqual(new Set(await Promise.all(sessions.map(decided))), new Set([false, true])),
      );
      assertQuiet(boss);
    });

    test('a task that keeps failing is in the inbox, with what can be done about it', async () => {
      const { page } = boss;
      const { agent } = await caller.call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
        name: 'Sleeper',
        model: 'xiaomi/mimo-v2-pro',
      });
      const task = await caller.call<{ id: string }>('POST', '/api/scheduled-tasks', {
        agentId: agent.id,
        name: 'Morning',
        cronSchedule: '@triggered',
        prompt: 'What is new?',
      });
      await caller.call('POST', `/api/instance/${agent.id}/stop`, {});
      await settle(page, '/dashboard/inbox');
      await page.getByText('Nothing waits for you').waitFor();
      for (let n = 0; n < 3; n += 1) {
        const { receiptId } = await caller.call<{ receiptId: string }>(
          'POST',
          `/api/scheduled-tasks/${task.id}/run`,
          {},
        );
        for (let status = ''; status !== 'failed';) {
          await page.waitForTimeout(100);
          ({ status } = await caller.call<{ status: string }>(
            'GET',
            `/api/scheduled-tasks/${task.id}/runs/${receiptId}`,
          ));
        }
      }
      const card = page.getByRole('group', { name: /^The task Morning failed 3 times in a row/ });
      await card.getByRole('button', { name: 'Run it now' }).waitFor();
      await page.getByRole('link', { name: 'Inbox 1' }).first().waitFor();
      await assertAccessible(page, 'trouble in the inbox');
      await page.keyboard.press('r');
      await page.getByText('Nothing waits for you').waitFor();
      await soon(async () => {
        const { tasks } = await caller.call<{ tasks: { id: string; enabled: boolean }[] }>(
          'GET',
          '/api/scheduled-tasks',
        );
        assert.equal(tasks.find(({ id }) => id === task.id)?.enabled, false);
      });
      assertQuiet(boss);
    });
  },
  { OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: model.url },
);
