import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pieces } from './channel.ts';
import { testAgent } from './testing.ts';

test('long answers are cut where they can be', () => {
  assert.deepEqual(pieces('one two three', 8), ['one two', 'three']);
  assert.deepEqual(pieces('x'.repeat(10), 4), ['xxxx', 'xxxx', 'xx']);
  assert.deepEqual(pieces('  ', 4), []);
});

test('more than can wait is refused: the service is to come again', async () => {
  const { store } = await testAgent();
  for (let id = 0; id < 500; id++)
    await store.takeMessage('telegram', { id: String(id), chat: 'c', sender: 's', text: 'x' });
  assert.equal(await store.takeMessage('telegram', { id: 'one more', chat: 'c', sender: 's', text: 'x' }), 'full');
});
