import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { elsewhere, send } from '@troupe/testing/services/people';
import { TEST_SECRETS } from '@troupe/testing/http/server';

/**
 * An e-mail address at the sign-in door had no longest: a quarter of a megabyte of accents in the wrong order, which anybody
 * could send, stopped everything for more than a minute, because to put them in order takes the square of their number. And
 * each was a key of what counts wrong passwords: a thousand of them kept a gigabyte.
 */
let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

const login = (email: string) =>
  send(
    `${scene.web}/api/auth/login`,
    'POST',
    { email, password: 'wrong password' },
    { authorization: `Bearer ${TEST_SECRETS.internalKey}`, 'x-client-ip': elsewhere() },
  );

test('an address of nothing but accents holds up nobody', { timeout: 300_000 }, async () => {
  const accents = `a${'\u0301'.repeat(15_000)}${'\u0316'.repeat(15_000)}@example.com`;
  await scene.unharmed(async () => {
    for (const email of [accents, `b${accents}`]) assert.equal((await login(email)).status, 401);
  });
});

test('addresses without end are not kept', { timeout: 300_000 }, async () => {
  await login('someone@example.com');
  const before = scene.memory();
  for (let n = 0; n < 300; n += 1)
    assert.equal((await login(`${n}${'x'.repeat(1_000_000)}@example.com`)).status, 401, `${n}`);
  const grown = scene.memory() - before;
  assert.ok(grown < 150, `300 wrong passwords left ${Math.round(grown)} MB behind`);
});
