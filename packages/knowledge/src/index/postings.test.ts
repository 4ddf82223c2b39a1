import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BLOCK, countOf, postingsOf } from './postings.ts';

test('others have their turns while the words of a large document are put in order', async () => {
  const terms = Array.from({ length: 1000 }, (_, index) => `word${index}`).join('\n');
  const passages = Array.from({ length: 100 }, () => ({ terms, counts: '\x01'.repeat(1000), words: 1000 }));
  let turns = 0;
  const over = new AbortController();
  const others = (async () => {
    for (; !over.signal.aborted; turns += 1) await new Promise(setImmediate);
  })();
  const blocks = await postingsOf(passages, BLOCK - 1);
  over.abort();
  await others;
  assert.ok(turns >= 15, `${turns} turns`);
  assert.deepEqual([...blocks.keys()], [0, 1]);
  assert.equal(countOf(Buffer.from(blocks.get(0)?.get('word7') ?? [])), 1);
  assert.equal(countOf(Buffer.from(blocks.get(1)?.get('word7') ?? [])), 99);
});
