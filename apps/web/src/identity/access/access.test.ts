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

const waiting = async () => (await admin.ask('GET', '/api/admin/access')).body;

test('who has no plan asks, is granted one and told so by mail; the administrators’ notice goes', async () => {
  const ann = await web.signUp({ name: 'Ann' });
  const nothing = { plan: null, endsAt: null, sold: false, askedAt: null, note: '', answer: '' };
  assert.deepEqual((await ann.ask('GET', '/api/access')).body, { state: 'none', ...nothing });
  const asked = (await ann.ask('POST', '/api/access', { note: 'For the tour' })).body;
  assert.deepEqual([asked.state, asked.note], ['asked', 'For the tour']);
  assert.ok(Date.parse(asked.askedAt));
  // Asked again, only the note changes.
  await ann.ask('POST', '/api/access', { note: 'For the tour in May' });
  const { requests, total } = await waiting();
  assert.equal(total, 1);
  assert.deepEqual(
    [requests[0].id, requests[0].name, requests[0].note, requests[0].askedAt],
    [ann.id, 'Ann', 'For the tour in May', asked.askedAt],
  );
  const told = (await admin.ask('GET', '/api/notices')).body;
  assert.deepEqual([told.unread, told.notices[0].kind], [1, 'access_asked']);
  assert.match(told.notices[0].message, /^\S+@\S+ asks for access\.$/, 'nothing that the stranger worded');

  assert.equal((await admin.ask('POST', `/api/admin/access/${ann.id}`, { grant: 'solo' })).status, 200);
  assert.equal((await ann.ask('GET', '/api/access')).body.state, 'member');
  assert.equal((await ann.ask('GET', '/api/billing')).body.plan, 'solo');
  await web.mailTo(ann.email, /You have access/);
  assert.equal((await admin.ask('GET', '/api/notices')).body.unread, 0);
  assert.equal((await waiting()).total, 0);
  const again = await ann.ask('POST', '/api/access', {});
  assert.deepEqual([again.status, again.body], [409, { error: 'You have a plan already' }]);
  const audit = (await ann.ask('GET', '/api/audit')).body.entries[0];
  assert.deepEqual([audit.action, audit.actorId, audit.detail.reason], ['plan-change', admin.id, 'access']);
});

test('a refusal says why, and is not asked about again on the same day; two administrators decide once', async () => {
  const bob = await web.signUp();
  await bob.ask('POST', '/api/access', {});
  const decide = () => admin.ask('POST', `/api/admin/access/${bob.id}`, { refuse: true, answer: 'Not this year.' });
  const statuses = (await Promise.all([decide(), decide()])).map(({ status }) => status);
  assert.deepEqual(new Set(statuses), new Set([200, 404]));
  const seen = (await bob.ask('GET', '/api/access')).body;
  assert.deepEqual([seen.state, seen.answer], ['refused', 'Not this year.']);
  assert.match(await web.mailTo(bob.email, /Your request for access/), /Not this year\./);
  const again = await bob.ask('POST', '/api/access', {});
  assert.deepEqual([again.status, again.body], [429, { error: 'Ask again a day after the refusal' }]);
});

test('nobody but an administrator sees or decides, and nonsense is refused', async () => {
  const eve = await web.signUp();
  assert.equal((await eve.ask('GET', '/api/admin/access')).status, 403);
  assert.equal((await eve.ask('POST', `/api/admin/access/${eve.id}`, { grant: 'network' })).status, 403);
  const wrong = await admin.ask('POST', `/api/admin/access/${eve.id}`, { grant: 'gold' });
  assert.deepEqual([wrong.status, wrong.body], [400, { error: 'grant must be a plan, or refuse true' }]);
  assert.equal((await eve.ask('POST', '/api/access', { note: 'x'.repeat(501) })).status, 400);
  assert.equal((await web.visitor().ask('GET', '/api/access')).status, 401);
});
