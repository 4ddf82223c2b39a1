import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createBackend } from '@troupe/backend';
import { sql } from 'kysely';
import { startWeb, type Person, type TestWeb } from '@troupe/testing/services/web';

/** The 500 rows of keys, validation and invites: a fixed text, the contract's fields, and nothing of the cause. */

const FAILED = { error: 'Internal server error' };

let web: TestWeb;
let person: Person;
let admin: Person;
let key: string;
before(async () => {
  web = await startWeb();
  person = await web.signUp();
  admin = await web.signUpAdmin();
  ({ key } = (await person.ask('POST', '/api/keys', { name: 'k' })).body);
  await web.deps.db.asSystem(async (tx) => {
    await sql`set local role none`.execute(tx);
    await sql`alter table api_keys rename column key_hash to lost`.execute(tx);
    await sql`alter table api_keys rename column name to lost_name`.execute(tx);
    await sql`alter table invites rename column token_hash to lost`.execute(tx);
    await sql`alter table invites rename column created_at to lost_at`.execute(tx);
  });
});
after(() => web.stop());

describe('a database that fails', () => {
  const ROWS: [who: () => { ask: Person['ask'] }, method: string, path: string, body: unknown, reply: object][] = [
    [() => person, 'GET', '/api/keys', undefined, FAILED],
    [() => person, 'POST', '/api/keys', { name: 'another' }, FAILED],
    [() => person, 'GET', '/api/keys/some-id', undefined, FAILED],
    [
      () => web.visitor(),
      'POST',
      '/api/keys/validate',
      { apiKey: `sk_${'0'.repeat(64)}` },
      { valid: false, ...FAILED },
    ],
    [() => person, 'POST', '/api/invite', { name: 'Guest' }, FAILED],
    [() => web.visitor(), 'POST', '/api/invites/verify', { token: '0'.repeat(64) }, FAILED],
    [() => admin, 'GET', '/api/admin/invites', undefined, FAILED],
    [() => admin, 'POST', '/api/admin/invites', { email: 'a@example.com' }, FAILED],
  ];
  for (const [who, method, path, body, reply] of ROWS)
    test(`${method} ${path}: 500`, async () => {
      const answer = await who().ask(method, path, body);
      assert.deepEqual([answer.status, answer.body], [500, reply]);
    });

  test('POST /api/validate-key of the backend: 500', async () => {
    const backend = await createBackend({ ...web.deps, url: 'http://127.0.0.1:3001' });
    const answer = await backend.server.app.inject({
      method: 'POST',
      url: '/api/validate-key',
      headers: { authorization: `Bearer ${key}` },
    });
    assert.deepEqual([answer.statusCode, answer.json()], [500, { valid: false, ...FAILED }]);
    await backend.close();
  });
});
