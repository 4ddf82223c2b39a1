import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBrowser } from '@troupe/testing/http/browser';
import { CLIENT, startCodeHost, startOpenId } from '@troupe/testing/identity/providers';
import { testWeb } from '../../testing.ts';

const BASE = 'http://127.0.0.1:3000';

test('where nobody new is taken, a provider lets in whoever is here and nobody else', async () => {
  const openId = await startOpenId({ redirectUri: `${BASE}/api/auth/idp2/callback` });
  const codeHost = await startCodeHost();
  const web = await testWeb({
    env: {
      IDP1_CLIENT_ID: CLIENT.id,
      IDP1_CLIENT_SECRET: CLIENT.secret,
      IDP1_BASE_URL: codeHost.address,
      IDP2_CLIENT_ID: CLIENT.id,
      IDP2_CLIENT_SECRET: CLIENT.secret,
      IDP2_ISSUER: openId.issuer,
    },
  });
  const come = (provider: string) => createBrowser(web.server.app, BASE).visit(`/api/auth/${provider}`);
  const as = (who: string, id: number): void => {
    const email = `${who}@example.com`;
    openId.state.account = { sub: who, email, email_verified: true, name: who };
    codeHost.state.account = { id, login: who, name: who, emails: [{ email, primary: true, verified: true }] };
  };
  try {
    as('known', 1);
    assert.equal(await come('idp1'), '/dashboard');
    await web.deps.db.system.insertInto('joining').values({ mode: 'invite', changed_at: new Date() }).execute();
    // By the link to the account, and by its address.
    for (const provider of ['idp1', 'idp2']) assert.equal(await come(provider), '/dashboard');
    as('stranger', 2);
    for (const provider of ['idp1', 'idp2']) assert.equal(await come(provider), '/login?error=AccessDenied');
    const found = await web.deps.db.system.selectFrom('users').select('email').execute();
    assert.deepEqual(
      found.map(({ email }) => email),
      ['known@example.com'],
    );
  } finally {
    await web.stop();
    openId.close();
    codeHost.close();
  }
});
