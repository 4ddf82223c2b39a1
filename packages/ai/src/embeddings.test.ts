import assert from 'node:assert/strict';
import { it } from 'node:test';
import { inForm } from './embeddings.ts';

const entry = <E extends number[] | string>(embedding: E) => ({ object: 'embedding' as const, index: 0, embedding });
const NUMBERS = [0.5, -1, 3.25];
const TEXT = Buffer.from(Float32Array.from(NUMBERS).buffer).toString('base64');

it('embeddings are written as the caller wants them, whatever the provider answers', async () => {
  assert.deepEqual(await inForm([entry(NUMBERS)], 'base64'), [entry(TEXT)]);
  assert.deepEqual(await inForm([entry(TEXT)], 'float'), [entry(NUMBERS)]);
  assert.deepEqual(await inForm([entry(TEXT)], undefined), [entry(NUMBERS)]);
  assert.deepEqual(await inForm([entry(TEXT), entry(NUMBERS)], 'base64'), [entry(TEXT), entry(TEXT)]);
});

it('those that are as they should be are passed on as they came', async () => {
  const [texts, numbers] = [[entry(TEXT)], [entry(NUMBERS)]];
  assert.equal(await inForm(texts, 'base64'), texts);
  assert.equal(await inForm(numbers, undefined), numbers);
});

it('many of them leave the others their turn', async () => {
  const many = Array.from({ length: 200 }, () => entry(Array.from({ length: 1536 }, () => 0.5)));
  let others = 0;
  setImmediate(() => void (others += 1));
  await inForm(many, 'base64');
  assert.equal(others, 1);
});
