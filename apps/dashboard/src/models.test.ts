import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILT_IN_CATALOGUE } from '@troupe/domain';
import { modelName } from './models.ts';

test('a model of the catalogue has its name, by whichever way it is reached', () => {
  const [known] = BUILT_IN_CATALOGUE.models;
  assert.ok(known);
  assert.equal(modelName(known.id), known.name);
  assert.equal(modelName(`openrouter/${known.id}`), known.name);
});

test('any other is what follows the last slash', () => {
  assert.equal(modelName('somebody/some-model:free'), 'some-model:free');
  assert.equal(modelName('alone'), 'alone');
  assert.equal(modelName('ends/'), '');
});

test('none is a dash', () => {
  for (const none of [null, undefined, '']) assert.equal(modelName(none), '–');
});
