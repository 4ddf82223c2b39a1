import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertQuiet, enter, openPage, say, settle, soon } from './browser.ts';
import { signedInCaller } from './content.ts';
import { browserSuite } from './suite.ts';

const NEWCOMER = { email: 'robin@example.org', password: 'correct horse battery' };

browserSuite('agents in the browser', (stage) => {
  test('sign up, create an agent, talk to it, see what it costs', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    await page.goto('/signup');
    await page.getByLabel('E-mail').fill(NEWCOMER.email);
    await page.getByLabel('Password').fill(NEWCOMER.password);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('button', { name: 'Ask for access' }).waitFor();

    const admin = await signedInCaller(stage.platform, stage.platform.owner);
    const { users } = await admin.call<{ users: { id: string }[] }>('GET', '/api/admin/users?search=robin');
    await admin.call('PATCH', `/api/admin/users/${users[0]!.id}`, { plan: 'label', subscriptionStatus: 'active' });

    await settle(page, '/dashboard/agents/new');
    await page.getByLabel('Name', { exact: true }).fill('Ada');
    await page.getByRole('button', { name: /^Model/ }).click();
    await page.getByRole('searchbox', { name: 'Search models' }).fill('sandbox');
    await page.getByRole('searchbox', { name: 'Search models' }).press('Enter');
    await page.getByRole('button', { name: /^Model: Sandbox/ }).waitFor();
    await page.getByLabel('Instruction').fill('You greet people.');
    await page.getByRole('button', { name: 'Create agent' }).click();
    await page.getByRole('heading', { name: 'Ada' }).waitFor();
    await page.getByText('ready').first().waitFor();

    await say(page, 'Hello, who is there?');
    const log = page.getByRole('log');
    await log.getByText('sandbox', { exact: false }).first().waitFor();
    await log
      .getByText(/tokens/)
      .first()
      .waitFor();

    // What was used is booked a moment after the answer, and the page hears of it.
    await settle(page, '/dashboard/cost');
    await page.getByRole('cell', { name: 'Ada', exact: true }).waitFor();
    assertQuiet(watched);
    await watched.context.close();
  });

  test('a task is scheduled', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    await enter(page, NEWCOMER);
    await settle(page, '/dashboard/tasks');
    await page.getByRole('button', { name: 'New task' }).click();
    await page.getByLabel('Name').fill('Every minute');
    await page.getByLabel('Prompt').fill('Say that you are awake.');
    await page.getByLabel('How often').selectOption('minutes');
    await page.getByLabel('Minutes between runs').selectOption('1');
    assert.equal(await page.getByLabel('Cron expression').inputValue(), '* * * * *');
    await page.getByText('It would run next').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Task saved').waitFor();
    assertQuiet(watched);
    await watched.context.close();
  });

  // What follows is the owner's: a user asks a hundred times a minute at most, and a test is faster than a person.
  test('a model that does not exist is refused where it is written, with the nearest; what answers is shown', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    await enter(page, stage.platform.owner);
    const { call } = await signedInCaller(stage.platform, stage.platform.owner);
    const { agent } = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', { name: 'Nameless' });
    await settle(page, `/dashboard/agents/${agent.id}/settings/config`);
    // No provider is set up here: the sandbox answers for every model.
    await page.getByText('(answers instead of Claude Opus 4.6, which is not served here)').waitFor();
    await page.getByRole('button', { name: 'JSON' }).click();
    const json = page.getByRole('textbox', { name: 'JSON' });
    await json.fill((await json.inputValue()).replace(/"default": "[^"]*"/, '"default": "xiaomi/mimo-v2-prro"'));
    await page.getByRole('button', { name: 'Save configuration' }).click();
    await page.getByText(/There is no model xiaomi\/mimo-v2-prro\. Did you mean xiaomi\/mimo-v2-pro/).waitFor();
    // In the form only what answers here can be chosen.
    await page.getByRole('button', { name: 'Form' }).click();
    await page.getByRole('button', { name: /^Model:/ }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /MiMo V2 Pro/ })
      .click();
    await page.getByRole('button', { name: 'Save configuration' }).click();
    await page.getByText('(answers instead of MiMo V2 Pro, which is not served here)').waitFor();
    assertQuiet(watched, [/ 400 /]);
    await call('DELETE', `/api/agents/${agent.id}`);
    await watched.context.close();
  });

  test('a template team starts, and its lead answers', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    await enter(page, stage.platform.owner);
    await settle(page, '/dashboard/teams?tab=gallery');
    await page.getByRole('button', { name: 'Use Dev Team' }).click();
    await page.getByRole('button', { name: 'Start the team' }).click();
    await page.getByText('3 of 3 agents are ready.').waitFor();
    await page.getByRole('link', { name: 'Talk to the lead' }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await say(page, 'Say hello to the team');
    await page
      .getByRole('log')
      .getByText(/tokens/)
      .first()
      .waitFor();
    await settle(page, '/dashboard/teams?tab=own');
    await page.getByText('Dev Team').first().waitFor();
    assertQuiet(watched);
    await watched.context.close();
  });

  /** Whose key devices and programs show. */
  let keyed = { id: '' };

  test('a device asks, is allowed, and gets its token', async () => {
    const { call } = await signedInCaller(stage.platform, stage.platform.owner);
    keyed = (await call<{ agent: { id: string } }>('POST', '/api/agents/provision', { name: 'Keyed' })).agent;
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    await enter(page, stage.platform.owner);
    await settle(page, `/dashboard/agents/${keyed.id}`);
    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Name and life' }).click();
    await page.getByRole('button', { name: 'Show the key' }).click();
    const token = (await page.locator('pre').first().innerText()).trim();
    const asked = await fetch(`${stage.platform.url}/api/devices/pair`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Pocket phone' }),
    });
    const { deviceId, deviceSecret } = (await asked.json()) as { deviceId: string; deviceSecret: string };
    await settle(page, '/dashboard/devices');
    await page.getByText('Pocket phone').waitFor();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('Device allowed').waitFor();
    const answer = await fetch(`${stage.platform.url}/api/devices/pair/${deviceId}`, {
      headers: { authorization: `Bearer ${deviceSecret}` },
    });
    const { status, token: deviceToken } = (await answer.json()) as { status: string; token?: string };
    assert.equal(status, 'approved');
    assert.ok(deviceToken);
    assertQuiet(watched);
    await watched.context.close();
  });

  test('the agent key is replaced after a question', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    await enter(page, stage.platform.owner);
    await settle(page, `/dashboard/agents/${keyed.id}`);
    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Name and life' }).click();
    await page.getByRole('button', { name: 'Show the key' }).click();
    const old = (await page.locator('pre').first().innerText()).trim();
    await page.getByRole('button', { name: 'Replace the key' }).click();
    await page.getByText('The old key stops working at once').waitFor();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Replace the key' }).click();
    await page.getByText('The key was replaced').waitFor();
    await page.locator('pre').filter({ hasNotText: old }).first().waitFor();
    const refused = await fetch(`${stage.platform.url}/api/devices/pair`, {
      method: 'POST',
      headers: { authorization: `Bearer ${old}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Thief' }),
    });
    assert.equal(refused.status, 401);
    assertQuiet(watched);
    await watched.context.close();
  });

  // late, because a minute may pass until then
  test('the run of the task shows up', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    await enter(page, NEWCOMER);
    const { call } = await signedInCaller(stage.platform, NEWCOMER);
    const { tasks } = await call<{ tasks: { id: string }[] }>('GET', '/api/scheduled-tasks');
    const [{ id } = { id: '' }] = tasks;
    await call('PUT', '/api/scheduled-tasks', { taskId: id, cronSchedule: '* * * * * *' });
    const succeeded = async () => {
      const { runs } = await call<{ runs: { status: string }[] }>('GET', `/api/scheduled-tasks/${id}/runs`);
      return runs.some(({ status }) => status === 'succeeded');
    };
    while (!(await succeeded())) await page.waitForTimeout(200);
    await settle(page, '/dashboard/tasks');
    await page.getByRole('button', { name: 'Every minute', exact: true }).click();
    await page.getByRole('dialog').getByText('succeeded').first().waitFor();
    await call('PUT', '/api/scheduled-tasks', { taskId: id, cronSchedule: '0 0 1 1 *' });
    assertQuiet(watched);
    await watched.context.close();
  });

  test('stopping and deleting say what they do, and do it', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    await enter(page, NEWCOMER);
    await settle(page, '/dashboard/agents');
    await page.getByRole('link', { name: 'Ada' }).click();
    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Name and life' }).click();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('off', { exact: true }).first().waitFor();
    // Where one would write stands why not, and the way on.
    await page.getByRole('tab', { name: 'Talk' }).click();
    await page.getByText('The agent is switched off.').waitFor();
    // Read anew, with nothing that was there before: what was said, its files, its work and its memory.
    await page.reload();
    await page.getByText('The agent is switched off.').waitFor();
    await page.getByRole('log').getByText('Hello, who is there?', { exact: true }).waitFor();
    // What would begin something is not offered.
    const said = page.getByRole('log').locator('article').first();
    await said.hover();
    assert.equal(await said.getByRole('button', { name: 'Edit' }).count(), 0);
    const list = page.getByRole('navigation', { name: 'Conversations' });
    await list.getByRole('button', { name: /Hello, who is there/ }).waitFor();
    await list.getByRole('searchbox').fill('who is there');
    await list.getByText(/^[1-9]\d* in all$/).waitFor();
    for (const tab of ['Files', 'Work', 'Memory']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tabpanel', { name: tab }).waitFor();
      await soon(async () => assert.equal(await page.locator('.skeleton').count(), 0));
    }
    await page.getByRole('tab', { name: 'Talk' }).click();
    assertQuiet(watched);
    await page.getByRole('button', { name: 'Start it' }).click();
    await page.getByLabel('Message', { exact: true }).waitFor();
    await page.getByText('ready').first().waitFor();
    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Name and life' }).click();
    await page.getByRole('button', { name: 'Delete agent' }).click();
    const ask = page.getByRole('alertdialog');
    await ask.getByText('deleted for good').waitFor();
    await ask.getByLabel('Type Ada to confirm').fill('Ada');
    await ask.getByRole('button', { name: 'Delete agent' }).click();
    await page.waitForURL('**/dashboard/agents');
    await page.getByRole('link', { name: 'Ada' }).first().waitFor({ state: 'detached' });
    // The list of changes may be faster than the answer to the deletion.
    assertQuiet(watched, [/ 404 .*\/api\/agents\//]);
    await watched.context.close();
  });
});
