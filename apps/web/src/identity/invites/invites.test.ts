import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { startWeb, tokenIn, type Person, type TestWeb } from '@troupe/testing/services/web';

/** Invites: every row of 4.2 and every error row. */

const DAY_MS = 86_400_000;
let now = Date.now();
let web: TestWeb;
let person: Person;
let admin: Person;

before(async () => {
  web = await startWeb({ clock: () => new Date(now) });
  person = await web.signUp();
  admin = await web.signUpAdmin();
});
after(() => web.stop());

type Case = [body: unknown, status: number, reply: unknown];

const invite = async (by: Person) => (await by.ask('POST', '/api/invite', { name: 'Guest' })).body.token as string;
const verify = (token: unknown) => web.visitor().ask('POST', '/api/invites/verify', { token });
const register = (body: Record<string, unknown>) =>
  web.visitor().ask('POST', '/api/register', {
    email: `${Math.random()}@example.com`,
    password: 'long enough',
    ...body,
  });

test('POST /api/invite answers success, inviteUrl and a token of 64 hex', async () => {
  const { status, body } = await person.ask('POST', '/api/invite', { name: "Seán O'Brien-Ñandú, esq." });
  assert.equal(status, 200);
  assert.match(body.token, /^[0-9a-f]{64}$/);
  assert.deepEqual(body, {
    success: true,
    inviteUrl: `http://127.0.0.1:3000/invite?token=${body.token}`,
    token: body.token,
  });
});

test('400 and 401', async () => {
  const cases: [unknown, string][] = [
    [{}, 'Name required'],
    [{ name: ' ' }, 'Name required'],
    [{ name: 1 }, 'Name required'],
    [{ name: 'x'.repeat(101) }, 'Invalid name'],
    [{ name: "x' OR '1'='1" }, 'Invalid name'],
    [{ name: 'x; DROP TABLE users' }, 'Invalid name'],
    [{ name: 'x union all select password' }, 'Invalid name'],
    [{ name: 'delete from users' }, 'Invalid name'],
    [{ name: 'x -- y' }, 'Invalid name'],
    [{ name: '<script>alert(1)</script>' }, 'Invalid name'],
    [{ name: 'javascript:alert(1)' }, 'Invalid name'],
    [{ name: 'x onerror=alert(1)' }, 'Invalid name'],
    [{ name: 'x\0y' }, 'Null characters are not allowed'],
  ];
  for (const [body, error] of cases) {
    const answer = await person.ask('POST', '/api/invite', body);
    assert.deepEqual([answer.status, answer.body], [400, { error }], JSON.stringify(body));
  }
  assert.equal((await web.visitor().ask('POST', '/api/invite', { name: 'x' })).status, 401);
});

test('404 for a user who is deleted while the request waits', async () => {
  const gone = await web.signUp();
  // A deleted user has no session: only who was let in a moment before can come as far as this.
  const asked = await web.deps.db.asSystem(async (tx) => {
    await tx.deleteFrom('users').where('id', '=', gone.id).execute();
    const answer = gone.ask('POST', '/api/invite', { name: 'Guest' });
    const waits = sql`select from pg_locks where not granted and pid in (
      select pid from pg_stat_activity where datname = current_database())`;
    while ((await waits.execute(tx)).rows.length === 0) await new Promise(setImmediate);
    return { answer };
  });
  const { status, body } = await asked.answer;
  assert.deepEqual([status, body], [404, { error: 'User not found' }]);
  assert.equal((await gone.ask('POST', '/api/invite', { name: 'Guest' })).status, 401);
});

test('POST /api/invites/verify: the plan and nothing about who; 400, 404, 410', async () => {
  const token = await invite(person);
  assert.deepEqual((await verify(token)).body, { valid: true, plan: 'solo' });
  assert.deepEqual((await verify(token.toUpperCase())).body, { valid: true, plan: 'solo' });
  const cases: Case[] = [
    [undefined, 400, { error: 'Invite token is required' }],
    [5, 400, { error: 'Invite token is required' }],
    ['', 400, { error: 'Invite token is required' }],
    ['abc', 400, { error: 'Invalid invite token format' }],
    ['0123456789ab', 400, { error: 'Invalid invite token format' }],
    ['z'.repeat(64), 400, { error: 'Invalid invite token format' }],
    ['0'.repeat(64), 404, { error: 'Invalid or expired invite' }],
  ];
  for (const [given, status, reply] of cases) {
    const answer = await verify(given);
    assert.deepEqual([answer.status, answer.body], [status, reply], String(given));
  }
  assert.equal((await register({ inviteToken: token })).status, 200);
  const used = await verify(token);
  assert.deepEqual([used.status, used.body], [410, { error: 'Invite has already been used' }]);
});

test('an invite lives 14 days', async () => {
  const token = await invite(person);
  const start = now;
  now = start + 14 * DAY_MS - 1;
  assert.equal((await verify(token)).status, 200);
  now = start + 14 * DAY_MS;
  assert.deepEqual((await verify(token)).body, { error: 'Invalid or expired invite' });
  const late = await register({ inviteToken: token });
  assert.deepEqual([late.status, late.body], [404, { error: 'Invalid or expired invite' }]);
  now = start;
});

test('a user’s invite: plan solo, not yet paid, ten credits for both', async () => {
  const host = await web.signUp();
  const guest = await web.signUp({ inviteToken: await invite(host) });
  const { plan, credits } = (await guest.ask('GET', '/api/settings')).body;
  assert.deepEqual([plan, credits], ['solo', 10]);
  assert.equal((await host.ask('GET', '/api/credits')).body.credits, 10);
  const row = await status(guest.id);
  assert.equal(row, 'inactive');
});

test('an admin’s invite, by either endpoint: plan solo with an active subscription', async () => {
  const { code } = (await admin.ask('POST', '/api/admin/invites', { email: ' Guest@Example.com' })).body;
  for (const inviteToken of [code, await invite(admin)]) {
    const guest = await web.signUp({ inviteToken });
    const { plan, credits } = (await guest.ask('GET', '/api/settings')).body;
    assert.deepEqual([plan, credits, await status(guest.id)], ['solo', 0, 'active']);
  }
});

test('nobody is registered with an invite that cannot be used', async () => {
  const email = 'not-registered@example.com';
  assert.equal((await register({ email, inviteToken: '0'.repeat(64) })).status, 404);
  assert.equal((await register({ email })).status, 200);
});

test('used twice at once: one wins, the other is nobody', async () => {
  const token = await invite(person);
  const emails = ['one@twice.example', 'two@twice.example'];
  const replies = await Promise.all(emails.map((email) => register({ email, inviteToken: token })));
  assert.deepEqual(
    replies.map(({ status }) => status).sort((a, b) => a - b),
    [200, 410],
  );
  const people = await web.deps.db.system.selectFrom('users').select('id').where('email', 'in', emails).execute();
  assert.equal(people.length, 1);
});

test('at most 20 open invites for a user, any number for an admin', async () => {
  const host = await web.signUp();
  const replies = await Promise.all(
    Array.from({ length: 22 }, () => host.ask('POST', '/api/invite', { name: 'Guest' })),
  );
  assert.equal(replies.filter(({ status }) => status === 200).length, 20);
  const refused = replies.find(({ status }) => status !== 200);
  assert.deepEqual([refused?.status, refused?.body], [429, { error: 'Too many open invites (max 20)' }]);
  const many = await Promise.all(Array.from({ length: 22 }, () => admin.ask('POST', '/api/invite', { name: 'Guest' })));
  assert.ok(many.every(({ status }) => status === 200));
});

test('POST /api/admin/invites mails the link; the list shows code, email and state', async () => {
  const { status, body } = await admin.ask('POST', '/api/admin/invites', { email: 'Mailed@Example.com' });
  assert.equal(status, 200);
  assert.deepEqual(body, {
    success: true,
    code: body.code,
    email: 'mailed@example.com',
    inviteUrl: `http://127.0.0.1:3000/invite?token=${body.code}`,
  });
  assert.equal(tokenIn(await web.mailTo('mailed@example.com', /invited/)), body.code);
  const guest = await web.signUp({ inviteToken: body.code });
  const list = (await admin.ask('GET', '/api/admin/invites')).body;
  const item = list.invites.find(({ code }: { code: string }) => code === body.code);
  assert.deepEqual([item.email, item.status, item.userId], ['mailed@example.com', 'used', guest.id]);
  assert.ok(Date.parse(item.usedAt) >= Date.parse(item.createdAt));
  assert.ok(list.total > list.active);
  const stored = await web.deps.db.system.selectFrom('invites').selectAll().execute();
  assert.ok(!JSON.stringify(stored).includes(body.code));
});

test('admin invites: 403, 400', async () => {
  for (const who of [person, web.visitor()])
    for (const [method, body] of [
      ['GET', undefined],
      ['POST', { email: 'a@b.cc' }],
    ] as const) {
      const answer = await who.ask(method, '/api/admin/invites', body);
      assert.deepEqual(
        [answer.status, answer.body],
        [403, { error: 'Admin access required.', code: 'ADMIN_REQUIRED' }],
      );
    }
  const cases: [unknown, string][] = [
    [{}, 'Email is required'],
    [{ email: 'nonsense' }, 'Invalid email format'],
  ];
  for (const [body, error] of cases) {
    const answer = await admin.ask('POST', '/api/admin/invites', body);
    assert.deepEqual([answer.status, answer.body], [400, { error }]);
  }
});

test('the 12-character endpoints are gone, and say what to use', async () => {
  for (const [path, replacement] of [
    ['/api/invite/generate', '/api/invite'],
    ['/api/invite/validate', '/api/invites/verify'],
  ] as const) {
    const answer = await web.visitor().ask('POST', path, { code: 'ABCDEFGHIJKL' });
    assert.deepEqual([answer.status, answer.body.replacement], [410, replacement]);
  }
});

async function status(userId: string): Promise<string> {
  const row = await web.deps.db.system
    .selectFrom('users')
    .select('subscription_status')
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  return row.subscription_status;
}
