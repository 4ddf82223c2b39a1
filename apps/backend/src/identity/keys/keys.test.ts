import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addUser, type TestUser } from '@troupe/testing/services/users';
import { testBackend, type TestBackend } from '../../testing.ts';

let backend: TestBackend;
let person: TestUser;
before(async () => {
  backend = await testBackend();
  person = await addUser(backend.deps, { plan: 'collective' });
});
after(() => backend.stop());

const validate = (authorization?: string) =>
  backend.server.app.inject({
    method: 'POST',
    url: '/api/validate-key',
    headers: authorization === undefined ? {} : { authorization },
  });

test('takes the key as bearer, with or without its prefix, and says what its user may', async () => {
  const features = ['agents', 'ai', 'underground', 'teams'];
  const good = { valid: true, userId: person.id, plan: 'collective', features };
  assert.deepEqual((await validate(`Bearer ${person.key}`)).json(), good);
  assert.deepEqual((await validate(`Bearer ${person.key.slice(3)}`)).json(), good);
  const free = await addUser(backend.deps, { subscriptionStatus: 'inactive' });
  assert.deepEqual((await validate(`Bearer ${free.key}`)).json(), {
    valid: true,
    userId: free.id,
    plan: null,
    features: [],
  });
});

test('401 for what is no key, for one that nobody has, and for one that was removed', async () => {
  const { key } = person;
  const refused = async (authorization: string | undefined, error: string) => {
    const answer = await validate(authorization);
    assert.deepEqual([answer.statusCode, answer.json()], [401, { valid: false, error }], String(authorization));
  };
  for (const [authorization, error] of [
    [undefined, 'Missing API key'],
    [key, 'Missing API key'],
    ['Bearer ', 'Missing API key'],
    ['Bearer sk_nothing', 'Invalid API key'],
    [`Bearer ${'0'.repeat(64)}`, 'Invalid API key'],
  ] as const)
    await refused(authorization, error);
  await backend.deps.db.system.deleteFrom('api_keys').where('user_id', '=', person.id).execute();
  await refused(`Bearer ${key}`, 'Invalid API key');
});
