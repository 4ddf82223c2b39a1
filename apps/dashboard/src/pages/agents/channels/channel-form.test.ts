import assert from 'node:assert/strict';
import { test } from 'node:test';
import { channels as texts } from '../../../texts/channels.ts';
import { channelBody, chatOf, formOf, linkTo, withSender } from './channel-form.ts';

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

test('a test message goes to where the last one came from', () => {
  const from = (channel: string, chat: string) => chatOf({ channel, chat, sender: 'ann@people.example' });
  assert.equal(from('telegram', '5512'), '5512');
  assert.equal(from('telegram', '-100:7'), '-100', 'a group, whatever it talks about');
  assert.equal(from('email', '<thread@mail>'), 'ann@people.example');
});

test('only an account leads to Telegram', () => {
  assert.equal(linkTo('telegram', '@press_bot'), 'https://t.me/press_bot');
  for (const account of ['', '@', 'press_bot', '@press_bot/../x', '@a b'])
    assert.equal(linkTo('telegram', account), undefined);
  assert.equal(linkTo('slack', '@press_bot'), undefined);
});

test('it is said when a change counts: an agent that runs elsewhere hears of it at its next start', () => {
  assert.match(texts.saved('elsewhere'), /next start/);
  for (const state of ['off', 'starting', 'listening'] as const) assert.match(texts.saved(state), /at once/);
});
