import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { randomHex } from '@troupe/kernel';
import { createBrowser } from '@troupe/testing/http/browser';
import { CLIENT, startCodeHost, startOpenId } from '@troupe/testing/identity/providers';
import { testWeb, type TestWeb } from '../../testing.ts';

/** Two who come back from a provider in the same moment. */

const BASE = 'http://127.0.0.1:3000';
let openId: Awaited<ReturnType<typeof startOpenId>>;
let codeHost: Awaited<ReturnType<typeof startCodeHost>>;
let web: TestWeb;
before(async () => {
  openId = await startOpenId({ redirectUri: `${BASE}/api/auth/idp2/callback` });
  codeHost = await startCodeHost();
  const client = { ID: CLIENT.id, SECRET: CLIENT.secret };
  web = await testWeb({
    env: {
      EMAIL_VERIFICATION: 'on',
      IDP1_CLIENT_ID: client.ID,
      IDP1_CLIENT_SECRET: client.SECRET,
      IDP1_BASE_URL: codeHost.address,
      IDP2_CLIENT_ID: client.ID,
      IDP2_CLIENT_SECRET: client.SECRET,
      IDP2_ISSUER: openId.issuer,
    },
  });
  openId.state.account = { sub: 'sub-1', email_verified: true, name: 'Olga' };
});
after(async () => {
  await web.stop();
  openId.close();
  codeHost.close();
});

const fresh = () => `${randomHex(6)}@example.com`;
const browser = () => createBrowser(web.server.app, BASE);

for (const provider of ['idp1', 'idp2'] as const)
  test(`${provider}: two callbacks at once, between which the address changed, make one user`, async () => {
    const addresses: string[] = [];
    const another = (): string => {
      addresses.push(fresh());
      return addresses.at(-1)!;
    };
    Object.defineProperty(openId.state.account, 'email', { enumerable: true, configurable: true, get: another });
    Object.defineProperty(codeHost.state.account, 'emails', {
      configurable: true,
      get: () => [{ email: another(), primary: true, verified: true }],
    });
    const { databaseUrl } = web.deps as typeof web.deps & { databaseUrl: string };
    const holder = new pg.Client({ connectionString: databaseUrl });
    await holder.connect();
    // Both find that nobody is linked yet, and wait here to become somebody.
    await holder.query('begin; lock table users in share mode');
    const ways = [browser(), browser()].map((one) => one.visit(`/api/auth/${provider}`));
    const blocked = `select from pg_locks where not granted and relation = 'users'::regclass`;
    while ((await holder.query(blocked)).rowCount !== 2) await delay(10);
    await holder.query('commit');
    await holder.end();
    assert.deepEqual((await Promise.all(ways)).toSorted(), ['/dashboard', '/login?error=IdpAuthFailed']);
    const made = await web.deps.db.system.selectFrom('users').select('id').where('email', 'in', addresses).execute();
    assert.equal(made.length, 1);
  });
