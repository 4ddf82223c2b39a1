import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineDiff } from './line-diff.ts';
import { visible } from '../../../visible.ts';

const shown = (before: string, after: string): string =>
  lineDiff(before, after)
    .map(({ kind, text }) => `${{ same: ' ', added: '+', removed: '-' }[kind]}${text}`)
    .join('|');

test('lines that stay, come and go', () => {
  assert.equal(shown('a\nb\nc', 'a\nx\nc'), ' a|-b|+x| c');
  assert.equal(shown('a\nb', 'a\nb'), ' a| b');
  assert.equal(shown('a\nb\nc\nd', 'b\nd\ne'), '-a| b|-c| d|+e');
  assert.equal(shown('', 'a'), '-|+a');
  assert.equal(shown('x', 'x\nx'), ' x|+x');
});

test('two long texts with nothing in common are shown whole, at once', () => {
  const text = (word: string) => Array.from({ length: 5000 }, (_, n) => `${word}${n}`).join('\n');
  const lines = lineDiff(text('a'), text('b'));
  assert.deepEqual([lines.length, lines[0]?.kind, lines.at(-1)?.kind], [10_000, 'removed', 'added']);
});

test('what nobody sees is written out', () => {
  assert.equal(visible('a\u202Eb\u0008c\rd\r\ne'), 'a[U+202E]b[U+0008]c[U+000D]d\r\ne');
  assert.equal(visible('a\u200Bb\u{E0041}\tc'), 'a[U+200B]b[U+E0041]\tc');
});
