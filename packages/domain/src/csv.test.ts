import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processorMs } from '@troupe/testing/machine/processor';
import { csvCell, csvOf } from './csv.ts';

test('no cell is a formula, whatever separates them', () => {
  assert.equal(
    csvOf([
      ['City', 'Seats'],
      ['=HYPERLINK("https://evil.example")', 'a;=1|@b'],
      [' -3', 'a\n=b'],
    ]),
    [`"City","Seats"`, `"'=HYPERLINK(""https://evil.example"")","a;'=1|'@b"`, `"'-3","a =b"`].join('\r\n'),
  );
});

test('a cell takes time by its length', () => {
  const ms = processorMs(() => {
    csvCell('\n'.repeat(200_000).concat('x'));
    csvCell(';\t'.repeat(100_000));
  });
  assert.ok(ms < 1000, `${ms} ms`);
});
