import assert from 'node:assert/strict';
import { test } from 'node:test';
import { channelBody, formOf, withSender } from './channel-form.ts';

const email = {
  kind: 'email' as const,
  settings: { address: 'ada@test.example', smtpHost: 'mail.test.example', smtpPort: '2525' },
  secrets: ['password'],
  allowed: ['@friends.example'],
};

test('a secret that is left empty stays; what else is emptied goes', () => {
  const form = formOf(email);
  form.values['smtpPort'] = ' ';
  form.allowed = 'a@x.example\n@y.example, *';
  const { settings, allowed } = channelBody(email, form);
  assert.equal('password' in settings, false);
  assert.deepEqual([settings['address'], settings['smtpPort']], ['ada@test.example', '']);
  assert.deepEqual(allowed, ['a@x.example', '@y.example', '*']);
  assert.equal(channelBody({ ...email, secrets: [] }, form).settings['password'], '');
});

test('a sender who was ignored is let in beside the others, once', () => {
  assert.deepEqual(withSender(email, 'bo@z.example').allowed, ['@friends.example', 'bo@z.example']);
  assert.deepEqual(withSender(email, '@friends.example').allowed, ['@friends.example']);
});
