import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createStandIn, replyChat, replyJson } from '@troupe/ai';
import type { Page } from 'playwright-core';
import { codeAt } from '@troupe/testing/identity/authenticator';
import { assertAccessible, assertQuiet, enter, openPage, signIn } from './browser.ts';
import { browserSuite, type Stage } from './suite.ts';

/** Second factors, as a person uses them. Passkeys are Chromium's own, kept by a virtual authenticator. */

const PASSWORD = 'correct horse battery';
const REFUSED = [/status of 401/];

/** Browsers keep passkeys for names, not for bare addresses. */
const named = ({ platform }: Stage): string => platform.url.replace('127.0.0.1', 'localhost');

async function signUp(page: Page, email: string): Promise<void> {
  await page.goto('/signup');
  await page.getByLabel('Name').fill('Sam');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.waitForURL('**/dashboard');
}

async function firstStep(page: Page, email: string): Promise<void> {
  await page.goto('/login');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL('**/login/second-step**');
}

async function addAuthenticator(page: Page): Promise<string> {
  const client = await page.context().newCDPSession(page);
  await client.send('WebAuthn.enable');
  const { authenticatorId } = await client.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return authenticatorId;
}

/** A provider that takes some keys and not others. */
const openai = await createStandIn((request, response) =>
  request.headers.authorization?.startsWith('Bearer sk-own')
    ? replyChat(request, response, { content: 'Yes.' })
    : replyJson(response, { error: 'no' }, 401),
);

browserSuite(
  'second factors in the browser',
  (stage) => {
    test('an authenticator app: set up, asked for, and a recovery code instead', async () => {
      const watched = await openPage(stage.browser, stage.platform.url);
      const { page, context } = watched;
      const email = 'totp@example.org';
      await signUp(page, email);
      await page.goto('/dashboard/settings?tab=security');
      await page.getByRole('button', { name: 'Add an authenticator app' }).click();
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByRole('img', { name: 'The secret as a QR code' }).waitFor();
      await assertAccessible(page, 'the set-up of an authenticator');
      const secret = (await page.getByLabel('Or type this secret').innerText()).replace(/\s/g, '');
      await page.getByLabel('Code that the app shows').fill(codeAt(secret, new Date()));
      await page.getByRole('button', { name: 'Turn on' }).click();
      const codes = (await page.getByLabel('Recovery codes', { exact: true }).innerText()).trim().split('\n');
      assert.equal(codes.length, 10);
      await page.getByRole('button', { name: 'I have kept them' }).click();
      await page.getByText('10 recovery codes left').waitFor();

      await context.clearCookies();
      await firstStep(page, email);
      await assertAccessible(page, 'the second step');
      await page.getByLabel('Code of your authenticator app').fill('000000');
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByText('Wrong code').waitFor();
      // A clock may be half a minute ahead, and this code was not used yet.
      await page.getByLabel('Code of your authenticator app').fill(codeAt(secret, new Date(), 1));
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.waitForURL('**/dashboard');

      await context.clearCookies();
      await page.goto('/dashboard/agents');
      await page.waitForURL('**/login?next=**');
      await page.getByLabel('E-mail').fill(email);
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('button', { name: 'Use a recovery code instead' }).click();
      await page.getByLabel('Recovery code', { exact: true }).fill(codes[0]!);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.waitForURL('**/dashboard/agents');
      assertQuiet(watched, REFUSED);
      await context.close();
    });

    test('a passkey: made, the second step, and a sign-in of its own', async () => {
      const watched = await openPage(stage.browser, named(stage));
      const { page, context } = watched;
      const email = 'passkey@example.org';
      await addAuthenticator(page);
      await signUp(page, email);
      await page.goto('/dashboard/settings?tab=security');
      await page.getByRole('button', { name: 'Add a passkey' }).click();
      await page.getByLabel('Name it').fill('Laptop');
      await page.getByRole('button', { name: 'Make the passkey' }).click();
      await page.getByRole('button', { name: 'I have kept them' }).click();
      await page.getByRole('cell', { name: 'Laptop', exact: true }).waitFor();

      await context.clearCookies();
      await firstStep(page, email);
      await page.getByRole('button', { name: 'Use a passkey', exact: true }).click();
      await page.waitForURL('**/dashboard');

      await context.clearCookies();
      await page.goto('/login');
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await page.waitForURL('**/dashboard');
      await page.getByText(email).first().waitFor();
      assertQuiet(watched);
      await context.close();
    });

    test('a session of yesterday is asked again, by the passkey, before the passkey is removed', async () => {
      const { page, context } = await openPage(stage.browser, named(stage));
      const email = 'again@example.org';
      await addAuthenticator(page);
      await signUp(page, email);
      await page.goto('/dashboard/settings?tab=security');
      await page.getByRole('button', { name: 'Add a passkey' }).click();
      await page.getByLabel('Name it').fill('Laptop');
      await page.getByRole('button', { name: 'Make the passkey' }).click();
      await page.getByRole('button', { name: 'I have kept them' }).click();
      // What a session of yesterday is told.
      let refused = 0;
      await page.route('**/api/settings/factors/*', async (route) => {
        if (route.request().method() !== 'DELETE' || (refused += 1) > 1) return route.fallback();
        return route.fulfill({ status: 403, json: { error: 'Confirm that it is you first', code: 'CONFIRM_FIRST' } });
      });
      await page.getByRole('button', { name: 'Remove Laptop' }).click();
      await page.getByText('It is your last one').waitFor();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
      await page.getByRole('heading', { name: 'Is it you?' }).waitFor();
      await page.getByRole('button', { name: 'Use a passkey', exact: true }).click();
      await page.getByText('A password alone opens your account').waitFor();
      assert.equal(refused, 2);
      await context.clearCookies();
      await signIn(page, { email, password: PASSWORD });
      await context.close();
    });

    test('an account is downloaded, closed, and kept by whoever signs in again', async () => {
      const watched = await openPage(stage.browser, stage.platform.url);
      const { page, context } = watched;
      const email = 'leaver@example.org';
      await signUp(page, email);
      await page.goto('/dashboard/settings?tab=account');
      const coming = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download everything' }).click();
      const saved = await coming;
      assert.equal(saved.suggestedFilename(), 'troupe-account.tar');
      await saved.path();
      await page.getByRole('button', { name: 'Close the account' }).click();
      await page.getByLabel('Type close to confirm').fill('close');
      await page.getByRole('alertdialog').getByRole('button', { name: 'Close the account' }).click();
      await page.waitForURL('**/login');
      await signIn(page, { email, password: PASSWORD });
      await page.getByText('This account is closed').waitFor();
      await page.getByRole('button', { name: 'Keep it' }).click();
      await page.getByText('The account stays').waitFor();
      await page.getByText('This account is closed').first().waitFor({ state: 'detached' });
      assertQuiet(watched);
      await context.close();
    });

    test('all keys are on one page, and an agent gets a new one', async () => {
      const watched = await openPage(stage.browser, stage.platform.url);
      const { page, context } = watched;
      await enter(page, stage.platform.owner);
      const made = await page.request.post('/api/agents/provision', { data: { name: 'Scout' } });
      assert.equal(made.status(), 201);
      await page.goto('/dashboard/settings?tab=keys');
      for (const name of ['API keys', 'Agent keys', 'Devices']) await page.getByRole('heading', { name }).waitFor();
      await page.getByRole('button', { name: 'New agent key: Scout' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'New agent key' }).click();
      const { agent } = (await made.json()) as { agent: { id: string } };
      const shown = (await page.getByRole('dialog').locator('pre').innerText()).trim();
      const { token } = (await (await page.request.get(`/api/agents/${agent.id}/token`)).json()) as { token: string };
      assert.equal(shown, token);
      await page.keyboard.press('Escape');

      await page.getByRole('button', { name: 'Add a key' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Provider').selectOption('openai');
      await dialog.getByLabel('Key').fill('sk-wrong');
      await dialog.getByRole('button', { name: 'Test' }).click();
      await dialog.getByText('The key was refused (401). Keys of openai begin with sk-.').waitFor();
      await dialog.getByLabel('Key').fill('sk-own-key-number-one');
      await dialog.getByRole('button', { name: 'Test' }).click();
      await dialog.getByText(/^It works\./).waitFor();
      await assertAccessible(page, 'a key of one’s own');
      await dialog.getByRole('button', { name: 'Give it to them' }).click();
      const row = page.getByRole('row', { name: /OpenAI …-one Scout/ });
      await row.getByRole('button', { name: 'Replace OpenAI …-one' }).click();
      await dialog.getByLabel('Key').fill('sk-own-key-number-two');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('button', { name: 'Test OpenAI …-two' }).click();
      await dialog.getByText(/^It works\./).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Remove OpenAI …-two' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
      await page.getByText('No keys of yours').waitFor();
      assertQuiet(watched);
      await context.close();
    });

    test('an administrator removes the factors of somebody who lost them', async () => {
      const watched = await openPage(stage.browser, stage.platform.url);
      const { page, context } = watched;
      await enter(page, stage.platform.owner);
      await page.goto('/dashboard/admin');
      await page.getByRole('button', { name: 'Remove second factors: totp@example.org' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Remove second factors' }).click();
      await page.getByText('Second factors removed').waitFor();
      await context.clearCookies();
      await signIn(page, { email: 'totp@example.org', password: PASSWORD });
      assertQuiet(watched);
      await context.close();
    });
    after(() => openai.close());
  },
  { OPENAI_BASE_URL: openai.url },
);
