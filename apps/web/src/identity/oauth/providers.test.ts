import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomHex } from '@troupe/kernel';
import { createBrowser } from '@troupe/testing/http/browser';
import { CLIENT, startDefaultOpenId, startOpenId } from '@troupe/testing/identity/providers';
import { testWeb } from '../../testing.ts';

/** Providers differ in what they understand and in what they say. */

const BASE = 'http://127.0.0.1:3000';
const fresh = () => `${randomHex(6)}@example.com`;

test('a provider that wants the secret in the form gets it there', async () => {
  const strict = await startOpenId({ redirectUri: `${BASE}/api/auth/idp2/callback`, proof: 'post' });
  strict.state.account = { sub: 'form', email: fresh(), email_verified: true };
  const other = await testWeb({
    env: { IDP2_CLIENT_ID: CLIENT.id, IDP2_CLIENT_SECRET: CLIENT.secret, IDP2_ISSUER: strict.issuer },
  });
  try {
    assert.equal(await createBrowser(other.server.app, BASE).visit('/api/auth/idp2'), '/dashboard');
  } finally {
    await other.stop();
    strict.close();
  }
});

test('a provider without the account selector is not asked for it', async () => {
  const plain = await startOpenId({ redirectUri: `${BASE}/api/auth/idp2/callback`, selects: false });
  plain.state.account = { sub: 'plain', email: fresh(), email_verified: true };
  const other = await testWeb({
    env: { IDP2_CLIENT_ID: CLIENT.id, IDP2_CLIENT_SECRET: CLIENT.secret, IDP2_ISSUER: plain.issuer },
  });
  try {
    assert.equal(await createBrowser(other.server.app, BASE).visit('/api/auth/idp2'), '/dashboard');
    assert.equal(plain.authorizations.at(-1)!.has('prompt'), false);
  } finally {
    await other.stop();
    plain.close();
  }
});

test('IDP2_TRUST_EMAIL: an address of which nothing is said counts, one that is called unverified does not', async () => {
  const silent = await startOpenId({ redirectUri: `${BASE}/api/auth/idp2/callback` });
  const trusting = await testWeb({
    env: {
      EMAIL_VERIFICATION: 'on',
      IDP2_CLIENT_ID: CLIENT.id,
      IDP2_CLIENT_SECRET: CLIENT.secret,
      IDP2_ISSUER: silent.issuer,
      IDP2_TRUST_EMAIL: 'on',
    },
  });
  try {
    for (const [given, page] of [
      [{}, '/dashboard'],
      [{ email_verified: false }, '/login?error=IdpNoEmail'],
    ] as const) {
      silent.state.account = { sub: `silent-${page}`, email: fresh(), ...given };
      assert.equal(await createBrowser(trusting.server.app, BASE).visit('/api/auth/idp2'), page);
    }
  } finally {
    await trusting.stop();
    silent.close();
  }
});

for (const [given, page] of [
  [undefined, '/login?error=IdpNoEmail'],
  [fresh(), '/dashboard'],
] as const)
  test(`oidc-provider with its default configuration${given ? ' and an address' : ', which has no address'}`, async () => {
    const provider = await startDefaultOpenId(`${BASE}/api/auth/idp2/callback`, given);
    const env = { IDP2_CLIENT_ID: CLIENT.id, IDP2_CLIENT_SECRET: CLIENT.secret, IDP2_ISSUER: provider.issuer };
    const other = await testWeb({ env: { ...env, IDP2_TRUST_EMAIL: 'on' } });
    const visitor = createBrowser(other.server.app, BASE, { login: 'olga', password: 'any' });
    try {
      assert.equal(await visitor.visit('/api/auth/idp2'), page);
    } finally {
      await other.stop();
      provider.close();
    }
  });
