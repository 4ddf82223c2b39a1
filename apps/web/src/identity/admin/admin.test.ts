import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startWeb, type Person, type TestWeb } from '@troupe/testing/services/web';

let web: TestWeb;
let admin: Person;
before(async () => {
  web = await startWeb();
  admin = await web.signUpAdmin();
});
after(() => web.stop());

test('the list is paged, newest first, and can be searched literally', async () => {
  const ann = await web.signUp({ email: 'ann_b@example.com', name: 'Ann' });
  await web.signUp({ email: 'annxb@example.com' });
  const all = (await admin.ask('GET', '/api/admin/users?limit=2')).body;
  assert.deepEqual([all.users.length, all.total, all.limit, all.offset], [2, 3, 2, 0]);
  assert.equal(all.users[0].email, 'annxb@example.com');
  const rest = (await admin.ask('GET', '/api/admin/users?limit=2&offset=2')).body;
  assert.equal(rest.users[0].id, admin.id);
  const found = (await admin.ask('GET', '/api/admin/users?search=N_b')).body;
  assert.deepEqual(
    found.users.map(({ id }: Person) => id),
    [ann.id],
  );
  const { createdAt, ...fields } = found.users[0];
  assert.ok(Date.parse(createdAt));
  assert.deepEqual(fields, {
    id: ann.id,
    email: 'ann_b@example.com',
    emailVerified: true,
    name: 'Ann',
    isAdmin: false,
    plan: null,
    subscriptionStatus: 'inactive',
    credits: 0,
    secondFactor: false,
    eraseAt: null,
  });
  assert.equal((await admin.ask('GET', '/api/admin/users?search=%00')).status, 400);
});

test('a plan is granted and taken, and both are on record for the user and the administrators', async () => {
  const user = await web.signUp();
  const patch = (body: unknown) => admin.ask('PATCH', `/api/admin/users/${user.id}`, body);
  const granted = (await patch({ plan: 'label', subscriptionStatus: 'active' })).body;
  assert.deepEqual([granted.plan, granted.subscriptionStatus], ['label', 'active']);
  const taken = (await patch({ plan: null })).body;
  assert.deepEqual([taken.plan, taken.subscriptionStatus], [null, 'active']);
  const own = (await user.ask('GET', '/api/audit')).body.entries;
  assert.deepEqual(
    own.map(({ action }: { action: string }) => action),
    ['plan-change', 'plan-change', 'sign-in', 'register'],
  );
  assert.deepEqual(
    [own[1].actorId, own[1].detail],
    [
      admin.id,
      {
        reason: 'admin',
        from: { plan: null, subscriptionStatus: 'inactive' },
        to: { plan: 'label', subscriptionStatus: 'active' },
      },
    ],
  );
  const seen = (await admin.ask('GET', `/api/audit?userId=${user.id}`)).body.entries;
  // Who the administrator is, is the administrators' to know.
  assert.deepEqual(
    seen.map((entry: object) => ({ ...entry, actorEmail: null })),
    own,
  );
  assert.deepEqual([seen[0].actorEmail, own[0].actorEmail], [admin.email, null]);
});

test('400 and 404', async () => {
  const patch = (id: string, body: unknown) => admin.ask('PATCH', `/api/admin/users/${id}`, body);
  assert.deepEqual((await patch(admin.id, {})).body, { error: 'plan or subscriptionStatus required' });
  assert.equal((await patch(admin.id, { plan: 'free' })).status, 400);
  assert.equal((await patch(admin.id, { subscriptionStatus: 'paid' })).status, 400);
  const unknown = await patch('nobody', { plan: 'solo' });
  assert.deepEqual([unknown.status, unknown.body], [404, { error: 'User not found' }]);
});

test('the audit log is paged, and nobody but an administrator sees others', async () => {
  const user = await web.signUp();
  for (let made = 0; made < 4; made += 1) await user.ask('POST', '/api/keys', { name: `k${made}` });
  const first = (await user.ask('GET', '/api/audit?limit=3')).body;
  assert.equal(first.entries.length, 3);
  assert.equal(first.entries[0].action, 'key-created');
  const second = (await user.ask('GET', `/api/audit?limit=3&before=${first.next}`)).body;
  assert.deepEqual(
    second.entries.map(({ action }: { action: string }) => action),
    ['key-created', 'sign-in', 'register'],
  );
  const others = (await user.ask('GET', `/api/audit?userId=${admin.id}`)).body.entries;
  assert.ok(others.every(({ userId }: { userId: string }) => userId === user.id));
  assert.ok((await admin.ask('GET', '/api/audit?limit=200')).body.entries.length > 8);
  assert.equal((await user.ask('GET', '/api/audit?before=x')).status, 400);
  assert.equal((await web.visitor().ask('GET', '/api/audit')).status, 401);
});
