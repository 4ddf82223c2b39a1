import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstWords } from './memory-title.ts';

test('what has no key is called by its first words', () => {
  assert.equal(firstWords('The user lives in Oslo.'), 'The user lives in Oslo.');
  assert.equal(firstWords('# Tour\nBerlin, 5 May'), 'Tour …');
  const long = 'Berlin moved to the fifth of May, because the hall is taken on the fourth by somebody else.';
  assert.equal(firstWords(long), 'Berlin moved to the fifth of May, because the hall is taken …');
  assert.equal(Array.from(firstWords('💚'.repeat(500))).length, 62);
  assert.equal(firstWords('x'.repeat(500)), `${'x'.repeat(60)} …`);
  assert.equal(firstWords('  \n '), '…');
  assert.equal(firstWords('وداعا يا صديقي'), 'وداعا يا صديقي');
});
