import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gone, type Waited } from './gone.ts';

test('who listens hears once that nobody waits any more, who left hears nothing', () => {
  const gone = new Gone();
  const heard: string[] = [];
  const [ann, bob] = [() => heard.push('ann'), () => heard.push('bob')];
  gone.addEventListener('abort', ann);
  gone.addEventListener('abort', bob);
  gone.removeEventListener('abort', bob);
  gone.throwIfAborted();
  assert.equal(gone.aborted, false);
  gone.abort();
  gone.abort();
  assert.deepEqual(heard, ['ann']);
  assert.equal(gone.aborted, true);
  assert.throws(() => gone.throwIfAborted(), { name: 'AbortError' });
  assert.equal((gone.reason as Error).name, 'AbortError');
});

test('an AbortSignal says the same', () => {
  const controller = new AbortController();
  const gone: Waited = controller.signal;
  let heard = 0;
  gone.addEventListener('abort', () => (heard += 1), { once: true });
  controller.abort();
  assert.deepEqual([heard, gone.aborted], [1, true]);
});
