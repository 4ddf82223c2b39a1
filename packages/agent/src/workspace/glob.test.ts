import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { processorMs } from '@troupe/testing/machine/processor';
import { BadPattern, createGlob } from './glob.ts';

const NAMES = [
  'a',
  'a.md',
  'b.ts',
  'ab.test.ts',
  '.env',
  '.git/config',
  'src/a.ts',
  'src/.hidden/a.ts',
  'src/deep/er/a.tsx',
  'src/deep/b.md',
  'x/y/x/y/z.md',
  'weird[1].txt',
  'star*name',
  'ü/ö.md',
  '{a}.md',
  'aaaaaaaaab',
];
const PATTERNS = [
  '*',
  '*.md',
  '**',
  '**/*',
  '**/*.ts',
  'src/**',
  'src/**/a.ts*',
  '**/deep/**/*.md',
  '**/x/**/z.md',
  '*.{ts,md}',
  '**/*.{ts,tsx,md}',
  '{src,x}/**/*.{md,{ts,tsx}}',
  '?.md',
  '[ab].*',
  '[!a].*',
  '[a-c]*',
  '.*',
  '.git/*',
  '**/.hidden/*',
  '{a}.md',
  '*a*a*a*b',
  'a{,b}*',
  '[z-',
  'src//a.ts',
];

test('finds what Node finds', () => {
  for (const pattern of PATTERNS) {
    const matches = createGlob(pattern);
    assert.deepEqual(
      NAMES.filter(matches),
      NAMES.filter((name) => path.posix.matchesGlob(name, pattern)),
      pattern,
    );
  }
});

test('a backslash takes the meaning of what comes after it', () => {
  assert.deepEqual(NAMES.filter(createGlob('weird\\[1\\].txt')), ['weird[1].txt']);
  assert.deepEqual(NAMES.filter(createGlob('star\\*n*')), ['star*name']);
});

test('a character is one, however many units it has', () => assert.ok(createGlob('?.md')('😀.md')));

test('is as quick for patterns that are made to be slow', () => {
  const ms = processorMs(() => {
    const name = `${'a'.repeat(254)}!`;
    for (const pattern of [`${'*a'.repeat(240)}b`, `${'?*'.repeat(240)}b`, `${'[a]*'.repeat(120)}b`])
      assert.equal(createGlob(pattern)(name), false);
    const folders = `${'a/'.repeat(1000)}b`;
    assert.equal(createGlob(`${'**/a/'.repeat(99)}c`)(folders), false);
  });
  assert.ok(ms < 500, `${ms} ms`);
});

test('refuses what stands for too much', () => {
  for (const pattern of ['{a,b}'.repeat(15), `{${'{a,b},'.repeat(70)}}`, `{${','.repeat(200)}}`])
    assert.throws(() => createGlob(pattern), BadPattern);
  assert.equal(createGlob('{'.repeat(500))('{'), false);
});
