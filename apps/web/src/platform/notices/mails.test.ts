import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { raiseNotice } from '@troupe/accounts';
import { startWeb, type Person, type TestWeb } from '@troupe/testing/services/web';

let web: TestWeb;
let ada: Person;
let ben: Person;
before(async () => {
  web = await startWeb();
  ada = await web.signUp();
  ben = await web.signUp();
});
after(() => web.stop());

const raise = (person: Person, message: string, kind: 'task_failing' | 'device_waiting' = 'task_failing') =>
  web.deps.db.asSystem((tx) =>
    raiseNotice(tx, { userId: person.id, kind, subject: message, message, link: '/dashboard/tasks' }, new Date()),
  );

test('a notice is mailed with its link, and once', async () => {
  await raise(ada, 'Morning report failed three times');
  const text = await web.mailTo(ada.email, /Morning report failed three times/);
  assert.match(text, /\/dashboard\/tasks/);
  assert.match(text, /settings\?tab=3Dnotifications|settings\?tab=notifications/);
});

test('a kind that is switched off is not mailed, the others are', async () => {
  const answer = await ben.ask('PATCH', '/api/settings', { notifications: { task_failing: false } });
  assert.equal(answer.status, 200);
  await raise(ben, 'Nobody wants to read this');
  await raise(ben, 'Pocket phone asks to be paired', 'device_waiting');
  await web.mailTo(ben.email, /Pocket phone asks to be paired/);
  assert.deepEqual(
    web.mails().filter((mail) => mail.includes('Nobody wants to read this')),
    [],
  );
});

test('a thousand notices at once are a few mails, and the last one says how many', async () => {
  const cleo = await web.signUp();
  await web.deps.db.asSystem(async (tx) => {
    for (let n = 0; n < 1000; n += 1)
      await raiseNotice(
        tx,
        { userId: cleo.id, kind: n % 2 ? 'task_failing' : 'message_failed', subject: `s${n}`, message: `Broken ${n}` },
        new Date(),
      );
  });
  const text = await web.mailTo(cleo.email, /things need your attention/);
  assert.match(text, /400 things need your attention/);
  assert.match(text, /and 380 more/);
  const mine = web.mails().filter((mail) => mail.includes(cleo.email));
  assert.equal(mine.filter((mail) => mail.includes('Broken')).length, 1);
  for (let n = 0; n < 10; n += 1) await raise(cleo, `Once more ${n}`, 'device_waiting');
  // Somebody else is told at once all the same.
  await raise(ada, 'Evening report failed three times');
  await web.mailTo(ada.email, /Evening report failed three times/);
  const told = web.mails().filter((mail) => mail.includes(cleo.email) && /Broken|Once more|attention/.test(mail));
  assert.ok(told.length <= 5, `${told.length} mails`);
});
