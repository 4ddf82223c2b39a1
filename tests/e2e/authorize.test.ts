import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { assertAccessible, assertQuiet, openPage, settle } from './browser.ts';
import { browserSuite } from './suite.ts';

const VERIFIER = 'v'.repeat(43);

/** A program of the person's waits for the browser on this machine. */
async function listen(): Promise<{ server: Server; redirect: string; answer: Promise<URLSearchParams> }> {
  const came = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (pathname === '/callback') came.resolve(searchParams);
    response.end('<!doctype html><html lang="en"><title>Done</title><p>You may close this page.');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    server,
    redirect: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    answer: came.promise,
  };
}

browserSuite('a program asks for access', (stage) => {
  let program: Awaited<ReturnType<typeof listen>>;
  before(async () => {
    program = await listen();
  });
  after(() => program.server.close().closeAllConnections());

  test('its person signs in, agrees, and takes it back', async () => {
    const { url, owner } = stage.platform;
    const { redirect, answer } = program;
    const made = await fetch(`${url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [redirect], client_name: 'Notebook' }),
    });
    const { client_id: clientId } = (await made.json()) as { client_id: string };
    const asked = new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirect,
      response_type: 'code',
      code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
      code_challenge_method: 'S256',
      scope: 'agents:read agents:talk',
      state: '42',
      resource: `${url}/mcp`,
    });
    const watched = await openPage(stage.browser, url);
    const { page } = watched;
    await page.goto(`/dashboard/authorize?${asked.toString()}`);
    await page.getByLabel('E-mail').fill(owner.email);
    await page.getByLabel('Password', { exact: true }).fill(owner.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'A program asks for access' }).waitFor();
    await page.getByText('It calls itself Notebook').waitFor();
    await assertAccessible(page, 'a program asks for access');
    await page.getByRole('button', { name: 'Allow' }).click();
    const came = await answer;
    await page.getByText('You may close this page.').waitFor();
    assert.deepEqual([came.get('state'), came.get('iss')], ['42', url]);
    const exchanged = await fetch(`${url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: came.get('code') ?? '',
        client_id: clientId,
        redirect_uri: redirect,
        code_verifier: VERIFIER,
      }),
    });
    const { access_token: token } = (await exchanged.json()) as { access_token: string };
    const status = async (): Promise<number> =>
      (await fetch(`${url}/mcp`, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: '{' })).status;
    assert.equal(await status(), 400);

    await settle(page, '/dashboard/settings?tab=keys');
    await page.getByRole('cell', { name: 'Notebook' }).waitFor();
    await assertAccessible(page, 'programs with access');
    await page.getByRole('button', { name: 'Take away' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Take away' }).click();
    await page.getByText('No programs').waitFor();
    assert.equal(await status(), 401);
    assertQuiet(watched);
    await watched.context.close();
  });
});
