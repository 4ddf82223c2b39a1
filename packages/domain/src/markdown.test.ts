import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processorMs } from '@troupe/testing/machine/processor';
import { plainMarkdown, scanMarkdown, type MarkdownList } from './markdown.ts';

/** A list as words, with what is set in in brackets. */
const shape = ({ ordered, items }: MarkdownList): string =>
  items
    .map(({ spans, checked, lists }) => {
      const task = checked === undefined ? '' : checked ? '[x] ' : '[ ] ';
      const below = lists.map((list) => `(${shape(list)})`).join('');
      return `${ordered ? '#' : '-'}${task}${spans.map((span) => span.text).join('')}${below}`;
    })
    .join(' ');

const listIn = (text: string): string =>
  scanMarkdown(text)
    .map((block) => (block.kind === 'list' ? shape(block) : block.kind))
    .join(' | ');

test('lists in lists, of either kind, and back', () => {
  assert.equal(listIn('- a\n  - b\n    1. c\n    2. d\n  - e\n- f'), '-a(-b(#c #d) -e) -f');
  assert.equal(listIn('1. a\n   - b\n2. c'), '#a(-b) #c');
  assert.equal(listIn('- a\n- b\n1. c'), '-a -b | #c');
  assert.equal(listIn('- a\n  - b\n  1. c\n- d'), '-a(-b)(#c) -d');
  // A gap between items makes no new list, so that numbers go on.
  assert.equal(listIn('1. a\n\n2. b\n\nText'), '#a #b | paragraph');
  assert.equal(listIn('- a\n  and more\n- b'), '-a\nand more -b');
});

test('tasks, what is struck through, alignment, the language of code', () => {
  assert.equal(listIn('- [ ] a\n- [x] b\n- [c] d'), '-[ ] a -[x] b -[c] d');
  const [paragraph] = scanMarkdown('It is ~~late~~ early, ~ about ~.');
  assert.deepEqual(paragraph?.kind === 'paragraph' && paragraph.spans.map(({ kind, text }) => [kind, text]), [
    ['text', 'It is '],
    ['del', 'late'],
    ['text', ' early, ~ about ~.'],
  ]);
  const [table] = scanMarkdown('| a | b | c | d |\n|:---|:---:|---:|---|\n| 1 | 2 | 3 | 4 |');
  assert.deepEqual(table?.kind === 'table' && table.align, ['left', 'center', 'right', undefined]);
  const [code] = scanMarkdown('```ts\nconst a = 1;\n```');
  assert.deepEqual(code, { kind: 'code', text: 'const a = 1;', language: 'ts' });
});

test('as words alone', () => {
  assert.equal(
    plainMarkdown('# News\n\n**Berlin** moved:\n- to `5 May`\n  - in the _Arena_'),
    'News Berlin moved: to 5 May · in the _Arena_',
  );
});

test('deep and long lists stay bounded', () => {
  const deep = Array.from({ length: 3000 }, (_, at) => `${' '.repeat(at * 2)}- x`).join('\n');
  const ms = processorMs(() => {
    scanMarkdown(deep);
    scanMarkdown('- x\n'.repeat(50_000));
    scanMarkdown(`~~${'~'.repeat(100_000)}`);
  });
  assert.ok(ms < 5000, `${ms} ms`);
});
