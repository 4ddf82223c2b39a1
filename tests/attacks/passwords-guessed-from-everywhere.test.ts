import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { send } from '@troupe/testing/services/people';

/**
 * Passwords were bounded for each address: whoever has many guessed as often as they liked. Now an account has a bound, too,
 * and it does not keep its owner out.
 */
const ADDRESSES = 300;
const AT_ONCE = 20;

let scene: Scene;
before(async () => (scene = await startScene({ TRUST_PROXY: '1' })));
after(() => scene.stop());

const account = { email: 'ada@example.com', password: 'correct horse battery' };

/** As the proxy in front says it. */
function login(address: string, password: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${scene.web}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address, ...headers },
    body: JSON.stringify({ email: account.email, password }),
  });
}

test('guesses from three hundred addresses are twenty, and the owner comes in', { timeout: 120_000 }, async () => {
  const from = { 'x-forwarded-for': '198.51.100.1' };
  assert.equal((await send(`${scene.web}/api/register`, 'POST', account, from)).status, 200);
  const before = await login('198.51.100.1', account.password);
  assert.equal(before.status, 200);
  const known = before.headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith('svc-device='))
    ?.split(';')[0];
  assert.ok(known);
  const statuses: number[] = [];
  await scene.unharmed(async () => {
    for (let n = 0; n < ADDRESSES; n += AT_ONCE) {
      const addresses = Array.from({ length: AT_ONCE }, (_, index) => `2001:db8:${(n + index).toString(16)}::1`);
      statuses.push(...(await Promise.all(addresses.map(async (one) => (await login(one, 'wrong')).status))));
    }
  });
  assert.deepEqual(
    [401, 429].map((status) => statuses.filter((one) => one === status).length),
    [20, ADDRESSES - 20],
  );
  const stranger = await login('198.51.100.2', account.password);
  assert.equal(stranger.status, 429);
  assert.match(stranger.headers.get('retry-after') ?? '', /^\d+$/);
  assert.equal((await login('198.51.100.3', account.password, { cookie: known })).status, 200);
});
