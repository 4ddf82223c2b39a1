import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { raiseNotice } from '@troupe/accounts';
import { startWeb, type Person, type TestWeb } from '../../../../../tests/lib/web.ts';

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
