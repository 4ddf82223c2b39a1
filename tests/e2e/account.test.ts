import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertQuiet, enter, openPage, settle, signIn } from './browser.ts';
import { browserSuite } from './suite.ts';

const NEWCOMER = { email: 'robin@example.org', password: 'correct horse battery' };

browserSuite('accounts in the browser', (stage) => {
  test("the owner's first login, with the password that the start printed", async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    await signIn(watched.page, stage.platform.owner);
    const { page } = watched;
    await page.getByRole('link', { name: 'Admin' }).waitFor();
    // It is in the terminal's history: the list of first things says so, and no longer when there is another one.
    await page.getByRole('link', { name: /Choose your own password/ }).click();
    const own = 'correct horse of the owner';
    await page.getByLabel('Current password').fill(stage.platform.owner.password);
    await page.getByLabel('New password', { exact: true }).fill(own);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Password changed').first().waitFor();
    stage.platform.owner.password = own;
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await page.getByText('Getting started').waitFor();
    assert.equal(await page.getByText('Choose your own password').count(), 0);
    assertQuiet(watched);
    await watched.context.close();
  });

  test('a newcomer signs up and is inside at once', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    await page.goto('/signup');
    await page.getByLabel('Name').fill('Robin');
    await page.getByLabel('E-mail').fill(NEWCOMER.email);
    await page.getByLabel('Password').fill(NEWCOMER.password);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.waitForURL('**/dashboard');
    await page.getByText(NEWCOMER.email).first().waitFor();
    assert.equal(await page.getByRole('link', { name: 'Admin' }).count(), 0);
    assertQuiet(watched);
    await watched.context.close();
  });

  test('what the contract refuses is told at its field, in its words, and never sent', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(request.url());
    });
    await page.goto('/signup');
    await page.getByLabel('E-mail').fill('nobody');
    await page.getByLabel('Password').fill('short');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText('Invalid email format').waitFor();
    await page.getByText('Password must be at least 8 characters').waitFor();
    await page.locator('input[name=email]:focus').waitFor();
    assert.deepEqual(sent, []);
    assertQuiet(watched);
    await watched.context.close();
  });

  test('a wrong password is told, and every provider error is explained', async () => {
    const { page, context } = await openPage(stage.browser, stage.platform.url);
    await page.goto('/login');
    await page.getByLabel('E-mail').fill(NEWCOMER.email);
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('Invalid email or password').waitFor();
    const told = new Set<string>();
    for (const error of [
      'AccessDenied',
      'IdpAuthFailed',
      'IdpNotConfigured',
      'IdpTokenFailed',
      'IdpNoEmail',
      'IdpAuthError',
    ]) {
      await page.goto(`/login?error=${error}`);
      told.add(await page.getByRole('alert').innerText());
    }
    assert.equal(told.size, 6);
    await context.close();
  });

  test('a session that expires leads to /login and back to where one was', async () => {
    const { page, context } = await openPage(stage.browser, stage.platform.url);
    await enter(page, NEWCOMER);
    await page.goto('/dashboard/settings?tab=keys');
    await page.getByLabel('Name').fill('After the end');
    await context.clearCookies();
    // Whatever asks next finds out; the form is sent where it is still there.
    await page.keyboard.press('Enter');
    await page.waitForURL('**/login?next=**');
    await page.getByText('Your session has ended').waitFor();
    await page.getByLabel('E-mail').fill(NEWCOMER.email);
    await page.getByLabel('Password').fill(NEWCOMER.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL('**/dashboard/settings?tab=keys');
    await context.close();
  });

  test('a page whose program does not arrive comes by itself a moment later', async () => {
    const { page, context } = await openPage(stage.browser, stage.platform.url);
    let lost = 0;
    await page.route('**/assets/*.js', (route) => {
      if (lost === 2) return route.continue();
      lost += 1;
      return route.abort('connectionreset');
    });
    await page.goto('/login');
    await page.getByLabel('E-mail').waitFor();
    assert.equal(lost, 2);
    assert.equal(await page.evaluate(() => sessionStorage.getItem('reloads')), null);
    await context.close();
  });

  test('a key is shown once and works in a program', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    await enter(page, NEWCOMER);
    await page.goto('/dashboard/settings?tab=keys');
    await page.getByLabel('Name').fill('Script');
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    const key = (await dialog.locator('pre').first().innerText()).trim();
    assert.match(key, /^sk_[0-9a-f]{64}$/);
    const answer = await fetch(`${stage.platform.url}/api/settings`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(((await answer.json()) as { email: string }).email, NEWCOMER.email);
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await page.reload();
    await page.getByText('sk_').first().waitFor();
    assert.equal(await page.getByText(key).count(), 0);

    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Programs that use it stop working at once').waitFor();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No keys yet').waitFor();
    const refused = await fetch(`${stage.platform.url}/api/settings`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(refused.status, 401);
    assertQuiet(watched);
    await watched.context.close();
  });

  test('an administrator grants a plan, and the other sees it', async () => {
    const admin = await openPage(stage.browser, stage.platform.url);
    await enter(admin.page, stage.platform.owner);
    await admin.page.goto('/dashboard/admin');
    await admin.page.getByLabel('Search by e-mail or name').fill('robin');
    await admin.page.getByRole('button', { name: `Change ${NEWCOMER.email}` }).click();
    await admin.page.getByLabel('Plan', { exact: true }).selectOption('label');
    await admin.page.getByRole('button', { name: 'Save' }).click();
    await admin.page.getByText('Plan changed').waitFor();
    assertQuiet(admin);
    await admin.context.close();

    const other = await openPage(stage.browser, stage.platform.url);
    await enter(other.page, NEWCOMER);
    await other.page.goto('/dashboard/settings');
    await other.page.getByText('label', { exact: true }).waitFor();
    await other.context.close();
  });

  test('everything can be reached by the keyboard through the command palette', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    await enter(page, NEWCOMER);
    await settle(page, '/dashboard');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('devices');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/dashboard/devices');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('theme');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark');
    await page.reload();
    assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark');
    assertQuiet(watched);
    await watched.context.close();
  });
});
