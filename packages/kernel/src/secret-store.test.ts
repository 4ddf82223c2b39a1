import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSecrets } from './secret-store.ts';
import { createCipher } from './secrets.ts';
import { readSettings } from './settings.ts';
import { testSettings } from '@troupe/testing/http/server';

const folder = () => mkdtempSync(join(tmpdir(), 'troupe-'));

test('missing secrets are made once, kept, and only the owner can read them', () => {
  const dir = folder();
  const first = loadSecrets(testSettings(), dir);
  assert.match(first.internalKey, /^[0-9a-f]{64}$/);
  assert.equal(first.federatedSecret, first.sessionSecret);
  assert.deepEqual(loadSecrets(testSettings(), dir), first);
  assert.equal(statSync(join(dir, 'secrets.json')).mode & 0o777, 0o600);
});

test('a given secret wins and is not written down', () => {
  const dir = folder();
  const secrets = loadSecrets(testSettings({ INTERNAL_API_KEY: 'given-key' }), dir);
  assert.equal(secrets.internalKey, 'given-key');
  assert.doesNotMatch(readFileSync(join(dir, 'secrets.json'), 'utf8'), /given-key|INTERNAL_API_KEY/);
});

test('production generates nothing and names what is missing', () => {
  const settings = readSettings({ NODE_ENV: 'production', SESSION_SECRET: 'x' });
  assert.throws(() => loadSecrets(settings, folder()), {
    name: 'StartError',
    message: /^INTERNAL_API_KEY, WALLET_ENCRYPTION_KEY must be set/,
  });
});

test('a damaged file stops the start instead of being replaced', () => {
  const dir = folder();
  writeFileSync(join(dir, 'secrets.json'), '{"SESSION_');
  assert.throws(() => loadSecrets(testSettings(), dir), { name: 'StartError', message: /is damaged/ });
});

test('sealed values open with their own context only', () => {
  const cipher = createCipher('secret', 'wallets');
  const sealed = cipher.seal('0xkey', 'wallet:1');
  assert.equal(cipher.open(sealed, 'wallet:1'), '0xkey');
  assert.throws(() => cipher.open(sealed, 'wallet:2'));
  assert.throws(() => createCipher('secret', 'tokens').open(sealed, 'wallet:1'));
  assert.throws(() => createCipher('other', 'wallets').open(sealed, 'wallet:1'));
  assert.notDeepEqual(cipher.seal('0xkey', 'wallet:1'), sealed);
});

test('a setting that does not parse is named, with what was given and what is expected; all at once', () => {
  assert.throws(() => readSettings({ WEB_PORT: 'abc', AGENT_DRIVER: 'lxc', BASE_URL: 'ftp://x' }), {
    name: 'StartError',
    message: [
      'WEB_PORT is "abc", expected a whole number from 0 to 65535',
      'BASE_URL is "ftp://x", expected an http or https URL',
      'AGENT_DRIVER is "lxc", expected one of embedded, docker, swarm, kubernetes',
    ].join('\n'),
  });
});

test('an address of another kind of server is refused with what is expected, and not shown', () => {
  for (const [name, expected] of [
    ['DATABASE_URL', 'postgres:// or postgresql://'],
    ['SMTP_URL', 'smtp:// or smtps://'],
  ] as const)
    assert.throws(() => readSettings({ [name]: 'mysql://user:hunter2@host/db' }), {
      name: 'StartError',
      message: `${name} is [redacted], expected an address that begins with ${expected}`,
    });
  assert.equal(readSettings({ DATABASE_URL: 'postgres://a@b/c' }).DATABASE_URL, 'postgres://a@b/c');
});
