import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { assertQuiet, enter, openPage, settle } from './browser.ts';
import { signedInCaller } from './content.ts';
import { browserSuite } from './suite.ts';

const run = promisify(execFile);
const NEWCOMER = { email: 'robin@example.org', password: 'correct horse battery' };

/** Presses Tab until what has the focus is called that. */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const called = (text: string) => (typeof name === 'string' ? text === name : name.test(text));
  for (let pressed = 0; pressed < 80; pressed += 1) {
    await page.keyboard.press('Tab');
    const text = await page.evaluate<string>(`(() => {
      const one = document.activeElement;
      return (one?.labels?.[0]?.innerText ?? one?.ariaLabel ?? one?.innerText ?? '').trim();
    })()`);
    if (called(text)) return;
  }
  assert.fail(`the keyboard does not reach ${String(name)}`);
}

/** Goes on by Tab: whatever has the focus on the way and has no line around it to show that. */
async function unseen(page: Page): Promise<string[]> {
  const found = new Set<string>();
  for (let pressed = 0; pressed < 60; pressed += 1) {
    await page.keyboard.press('Tab');
    const one = await page.evaluate<string>(`(() => {
      const one = document.activeElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(one);
      const isSeen = one === document.body || (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0);
      return isSeen ? '' : one.outerHTML.slice(0, 120);
    })()`);
    if (one !== '') found.add(one);
  }
  return [...found];
}

browserSuite('paths through the dashboard', (stage) => {
  before(async () => {
    const registered = await fetch(`${stage.platform.url}/api/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...NEWCOMER, name: 'Robin' }),
    });
    const { id } = (await registered.json()) as { id: string };
    const { call } = await signedInCaller(stage.platform, stage.platform.owner);
    await call('PATCH', `/api/admin/users/${id}`, { plan: 'network', subscriptionStatus: 'active' });
  });

  test('a provider that is not set up is not offered, and explained to who comes by an old link', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    for (const provider of ['idp1', 'idp2']) {
      await page.goto(`/api/auth/${provider}`);
      await page.waitForURL('**/login?error=IdpNotConfigured');
      await page.getByRole('alert').getByText('This provider is not set up on this platform').waitFor();
      await page.waitForLoadState('networkidle');
      assert.equal(await page.getByRole('link', { name: /^Continue with/ }).count(), 0);
    }
    assertQuiet(watched);
    await watched.context.close();
  });

  test('from signing in to a talking agent by the keyboard alone', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    await page.goto('/login');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await tabTo(page, 'E-mail');
    await page.keyboard.type(NEWCOMER.email);
    await tabTo(page, 'Password');
    await page.keyboard.type(NEWCOMER.password);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/dashboard');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await tabTo(page, /^New agent$/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'New agent' }).waitFor();
    await page.keyboard.type('Echo');
    await tabTo(page, /^Model/);
    await page.keyboard.press('Enter');
    await tabTo(page, 'Search models');
    await page.keyboard.type('Sandbox');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Create agent');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Echo' }).waitFor();
    await tabTo(page, 'Message');
    await page.keyboard.type('Hello?');
    await page.keyboard.press('Enter');
    await page.getByRole('log').getByText('This is the sandbox model').waitFor();
    assert.deepEqual(await unseen(page), []);
    assertQuiet(watched);
    await watched.context.close();
  });

  test('an invited newcomer talks to an agent in under two minutes and four clicks', async () => {
    const { call } = await signedInCaller(stage.platform, stage.platform.owner);
    const { token } = await call<{ token: string }>('POST', '/api/invite', { name: 'Kim' });
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    const began = Date.now();
    let clicks = 0;
    const click = async (name: string, role: 'button' | 'link') => {
      await page.getByRole(role, { name }).first().click();
      clicks += 1;
    };
    // As fast as somebody who types 50 words a minute.
    const type = (label: string, text: string) => page.getByLabel(label).pressSequentially(text, { delay: 200 });
    await page.goto(`/invite?token=${token}`);
    await click('Create your account', 'link');
    await type('E-mail', 'kim@example.org');
    await type('Password', 'correct horse');
    await click('Create account', 'button');
    await page.getByText('Getting started').waitFor();
    await click('Create your first agent', 'link');
    await page.getByLabel('Name', { exact: true }).pressSequentially('Helper', { delay: 200 });
    // A phone shows the button without scrolling, above the bar at its lower edge; what few change is folded.
    const size = page.viewportSize()!;
    await page.setViewportSize({ width: 390, height: 844 });
    const button = await page.getByRole('button', { name: 'Create agent' }).boundingBox();
    assert.ok(button && button.y > 0 && button.y + button.height <= 844 - 57, `it stands at ${button?.y}`);
    await page.setViewportSize(size);
    await click('Create agent', 'button');
    await page.getByLabel('Message').pressSequentially('Hello, who are you?', { delay: 200 });
    await page.keyboard.press('Enter');
    await page.getByRole('log').getByText('This is the sandbox model').waitFor();
    const seconds = (Date.now() - began) / 1000;
    assert.equal(clicks, 4);
    assert.ok(seconds < 120, `it took ${seconds} s`);
    assertQuiet(watched);
    await watched.context.close();
  });

  test('every page is at most two clicks from the overview', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    await enter(page, stage.platform.owner);
    await settle(page, '/dashboard');
    const seen: string[] = [];
    const shown = async (link: Locator) => {
      await link.and(page.locator('[aria-current=page]')).waitFor();
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('.skeleton').first().waitFor({ state: 'detached' });
      seen.push(new URL(page.url()).pathname);
    };
    for (const menu of ['Main', 'Settings and account']) {
      const places = page.getByRole('navigation', { name: menu }).getByRole('listitem');
      for (const name of await places.allInnerTexts()) {
        const place = places.getByRole('link', { name, exact: true });
        await place.click();
        await shown(place);
        const row = page.getByRole('navigation', { name: `Pages of ${name}` });
        const others = await row.getByRole('link').allInnerTexts();
        for (const other of others.slice(1)) {
          const link = row.getByRole('link', { name: other, exact: true });
          await link.click();
          await shown(link);
        }
      }
    }
    assert.equal(new Set(seen).size, seen.length, seen.join());
    assert.ok(seen.length >= 22, seen.join());
    assertQuiet(watched);
    await watched.context.close();
  });

  test('a new key works with the curl command that the page shows', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    await enter(page, NEWCOMER);
    await settle(page, '/dashboard/settings?tab=keys');
    await page.getByLabel('Name').fill('Shell');
    await page.getByRole('button', { name: 'Create key' }).click();
    const command = await page.getByRole('dialog').locator('pre').last().innerText();
    const { stdout } = await run('sh', ['-c', `${command} --silent`]);
    const { agents } = JSON.parse(stdout) as { agents: { name: string }[] };
    assert.deepEqual(
      agents.map(({ name }) => name),
      ['Echo'],
    );
    assertQuiet(watched);
    await watched.context.close();
  });

  test('a team in YAML is checked while it is written, started, and its run is seen', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    await enter(page, NEWCOMER);
    await settle(page, '/dashboard/teams?tab=editor');
    const editor = page.getByLabel('Team definition (YAML)');
    const start = page.getByRole('button', { name: 'Start the team' });
    const yaml = await editor.inputValue();
    await page.getByText('Good: a team of 3.').waitFor();
    await editor.fill(yaml.replace('agents:', 'agents: ['));
    await page.getByText('Good: a team of 3.').first().waitFor({ state: 'detached' });
    assert.equal(await start.isDisabled(), true);
    await editor.fill(
      yaml.replace('name: Dev Team', 'name: Night Shift').replaceAll(/model: .*/g, 'model: sandbox/echo'),
    );
    await page.getByText('Good: a team of 3.').waitFor();
    await start.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Start the team' }).click();
    await page.getByText('3 of 3 agents are ready.').waitFor();
    await page.getByRole('link', { name: 'Talk to the lead' }).click();
    await page.getByLabel('Message').fill('tell engineer think about doors');
    await page.getByLabel('Message').press('Enter');
    await page.getByRole('log').getByText('done', { exact: true }).first().waitFor();
    await settle(page, '/dashboard/teams?tab=own');
    await page.getByRole('heading', { name: 'Night Shift' }).waitFor();
    await page.getByText('hands a task to engineer').waitFor();
    assertQuiet(watched);
    await watched.context.close();
  });

  test('a device is refused, and one that was allowed is cut off', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    const { call } = await signedInCaller(stage.platform, NEWCOMER);
    const { agents } = await call<{ agents: { id: string }[] }>('GET', '/api/agents');
    const { token } = await call<{ token: string }>('GET', `/api/agents/${agents[0]!.id}/token`);
    const pair = async (name: string) => {
      const asked = await fetch(`${stage.platform.url}/api/devices/pair`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name }),
      });
      return (await asked.json()) as { deviceId: string; deviceSecret: string };
    };
    const [laptop] = [await pair('Laptop'), await pair('Stranger')];
    await enter(page, NEWCOMER);
    await settle(page, '/dashboard');
    await page.getByText('Stranger asks to be paired').waitFor();
    await settle(page, '/dashboard/devices');
    await page
      .getByRole('row', { name: /Stranger/ })
      .getByRole('button', { name: 'Refuse' })
      .click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Refuse' }).click();
    await page.getByText('Stranger', { exact: true }).first().waitFor({ state: 'detached' });
    await page
      .getByRole('row', { name: /Laptop/ })
      .getByRole('button', { name: 'Allow' })
      .click();
    await page
      .getByRole('row', { name: /Laptop/ })
      .getByRole('button', { name: 'Revoke' })
      .click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Laptop', { exact: true }).first().waitFor({ state: 'detached' });
    const asked = await fetch(`${stage.platform.url}/api/devices/pair/${laptop!.deviceId}`, {
      headers: { authorization: `Bearer ${laptop!.deviceSecret}` },
    });
    assert.equal(((await asked.json()) as { status: string }).status, 'revoked');
    assertQuiet(watched);
    await watched.context.close();
  });

  test('what is asked for while signed out comes after signing in', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    await page.goto('/dashboard/cost?period=30d');
    await page.waitForURL('**/login?next=**');
    await page.getByLabel('E-mail').fill(NEWCOMER.email);
    await page.getByLabel('Password').fill(NEWCOMER.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL('**/dashboard/cost?period=30d');
    assertQuiet(watched);
    await watched.context.close();
  });
});
