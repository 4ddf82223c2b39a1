import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOptions } from '@node-rs/argon2';
import { createPasswords, DECOY } from './passwords.ts';

test('a password matches its own hash and no other', async () => {
  const passwords = createPasswords();
  const stored = await passwords.hash('correct horse', 'a');
  assert.match(stored, /^\$argon2id\$/);
  assert.equal(await passwords.verify(stored, 'correct horse', 'a'), true);
  assert.equal(await passwords.verify(stored, 'correct horsf', 'a'), false);
});

test('nobody costs as much as somebody, and never matches', async () => {
  const real = parseOptions(await createPasswords().hash('anything', 'a'));
  assert.deepEqual(parseOptions(DECOY), real);
  const asked: string[] = [];
  const always = {
    hash: async () => '',
    verify: async (stored: string) => {
      asked.push(stored);
      return true;
    },
  };
  assert.equal(await createPasswords({ argon: always }).verify(null, 'x', 'a'), false);
  assert.deepEqual(asked, [DECOY]);
});

test('a flood of one address runs a few at a time, waits in its own bounded queue, and holds up nobody else', async () => {
  let running = 0;
  let most = 0;
  const ended: string[] = [];
  const release: (() => void)[] = [];
  const slow = {
    hash: async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => release.push(resolve));
      running -= 1;
      return 'done';
    },
    verify: async () => false,
  };
  const passwords = createPasswords({ argon: slow, width: 2, waiting: 10, waitingPerKey: 3 });
  const all = Array.from({ length: 8 }, () =>
    passwords.hash('x', 'flood').catch((error: { status: number }) => error.status),
  );
  const settled = Promise.all(all);
  const other = passwords.hash('x', 'other').then(() => ended.push('other'));
  while (release.length > 0) {
    release.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(await settled, ['done', 'done', 'done', 'done', 'done', 429, 429, 429]);
  await other;
  assert.equal(ended.length, 1);
  assert.equal(most, 2);
});
