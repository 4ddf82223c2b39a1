import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { codeAt } from '@troupe/testing/identity/authenticator';
import { startWeb, tokenIn, type TestWeb } from '@troupe/testing/services/web';

/** Whoever gives somebody else's address has mails sent there, and must not be able to say anything in them. */

const WORDS = 'You have won, come to https://evil.example/claim';

let web: TestWeb;
before(async () => {
  web = await startWeb({ env: { EMAIL_VERIFICATION: 'on' } });
});
after(() => web.stop());

/** What came there, none of it a stranger's. */
function withoutWords(email: string, atLeast: number): void {
  const mails = web.mails().filter((mail) => mail.includes(`To: ${email}`));
  assert.ok(mails.length >= atLeast, `${mails.length} mails`);
  for (const mail of mails) assert.doesNotMatch(mail, /evil|You have won/, mail);
}

test('by the name of an account that was registered with it', async () => {
  const { email, ask } = await web.signUp({ name: WORDS });
  await web.mailTo(email, /Verify your e-mail address/);
  await web.visitor().ask('POST', '/api/auth/forgot-password', { email });
  await web.mailTo(email, /Set a new password/);
  assert.equal((await ask('POST', '/api/settings', { email: `other-${email}` })).status, 200);
  await web.mailTo(email, /Your e-mail address was changed/);
  withoutWords(email, 3);
});

test('by the name of a factor of an account that was moved to it', async () => {
  const { email, ask } = await web.signUp({ name: WORDS });
  await ask('POST', '/api/auth/verify-email', { token: tokenIn(await web.mailTo(email, /Verify/)) });
  const { id, secret } = (await ask('POST', '/api/settings/factors/totp', { name: WORDS })).body;
  const added = await ask('POST', `/api/settings/factors/totp/${id}`, { code: codeAt(secret, new Date()) });
  assert.equal(added.status, 200, JSON.stringify(added.body));
  assert.match(await web.mailTo(email, /A second factor was added/), /evil\.example/, 'its owner is told which');
  const victim = `victim-${email}`;
  assert.equal((await ask('POST', '/api/settings', { email: victim })).status, 200);
  const removed = await ask('DELETE', `/api/settings/factors/${id}`);
  assert.equal(removed.status, 200, JSON.stringify(removed.body));
  // Asked for later, and sent by the same queue.
  await web.visitor().ask('POST', '/api/auth/forgot-password', { email: victim });
  await web.mailTo(victim, /Set a new password/);
  withoutWords(victim, 2);
});
