import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventsOf, type SentEvent } from '@troupe/contract';
import { startWeb, type Person, type TestWeb } from '@troupe/testing/services/web';

let web: TestWeb;
let admin: Person;
before(async () => {
  web = await startWeb();
  admin = await web.signUpAdmin();
});
after(() => web.stop());

/** A stream as a program reads it. */
async function listen(person: Person, query = '') {
  const gone = new AbortController();
  const headers = { cookie: `svc-session=${person.token()}` };
  const response = await fetch(`${web.address}/api/live${query}`, { headers, signal: gone.signal });
  const events = response.ok ? eventsOf(response) : undefined;
  return {
    status: response.status,
    /** The next that is no ping; undefined when the stream ended. */
    async next(): Promise<SentEvent | undefined> {
      for (let item = await events!.next(); !item.done; item = await events!.next())
        if (item.value.event !== 'ping') return item.value;
      return undefined;
    },
    close: () => gone.abort(),
  };
}

test('who is granted a plan hears at once that the account changed, and nobody else does', async () => {
  const [ann, bob] = [await web.signUp(), await web.signUp()];
  const [hers, his] = [await listen(ann), await listen(bob)];
  assert.equal((await hers.next())?.event, 'ready');
  assert.equal((await his.next())?.event, 'ready');
  const grant = (id: string) =>
    admin.ask('PATCH', `/api/admin/users/${id}`, { plan: 'solo', subscriptionStatus: 'active' });
  await grant(ann.id);
  assert.deepEqual(await hers.next(), { event: 'changed', data: '{"topics":["account"]}' });
  await grant(bob.id);
  assert.deepEqual(await his.next(), { event: 'changed', data: '{"topics":["account"]}' });
  hers.close();
  his.close();
});

test('who opens a stream is told what changed a moment before, and others are not', async () => {
  const [ann, bob] = [await web.signUp(), await web.signUp()];
  const known = await listen(ann);
  await known.next();
  await admin.ask('PATCH', `/api/admin/users/${ann.id}`, { plan: 'solo', subscriptionStatus: 'active' });
  assert.equal((await known.next())?.event, 'changed');
  const topicsOf = async (person: Person): Promise<string[]> => {
    const stream = await listen(person, '?since=5000');
    const { data } = (await stream.next())!;
    stream.close();
    return (JSON.parse(data) as { topics: string[] }).topics;
  };
  assert.deepEqual(await topicsOf(ann), ['account']);
  assert.deepEqual(await topicsOf(bob), ['inbox', 'tasks', 'usage', 'work'], 'nobody knows whether they changed');
  known.close();
});

test('a stream ends with the session that opened it', async () => {
  const ann = await web.signUp();
  const stream = await listen(ann);
  assert.equal((await stream.next())?.event, 'ready');
  await ann.ask('POST', '/api/auth/signout');
  assert.equal(await stream.next(), undefined);
});

test('nobody follows a conversation of an agent that is not theirs', async () => {
  const stream = await listen(await web.signUp(), '?watch=agent-of-others:session:0');
  assert.equal((await stream.next())?.event, 'ready');
  const gone = await stream.next();
  assert.equal(gone?.event, 'gone');
  assert.match(gone.data, /Agent not found/);
  stream.close();
});

test('it needs a session, what is watched has a form, and a user has so many', async () => {
  assert.equal((await web.visitor().ask('GET', '/api/live')).status, 401);
  const ann = await web.signUp();
  const wrong = await ann.ask('GET', '/api/live?watch=x');
  assert.deepEqual([wrong.status, wrong.body.error.slice(0, 14)], [400, 'watch must be ']);
  assert.equal((await ann.ask('GET', `/api/live?watch=${Array(9).fill('a:s:1').join()}`)).status, 400);
  const streams = await Promise.all(Array.from({ length: 40 }, () => listen(ann)));
  assert.deepEqual(new Set(streams.map(({ status }) => status)), new Set([200]));
  const last = await ann.ask('GET', '/api/live');
  assert.deepEqual([last.status, last.body], [429, { error: 'A user has 40 live streams at most' }]);
  for (const stream of streams) stream.close();
});
