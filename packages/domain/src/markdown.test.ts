import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processorMs } from '@troupe/testing/machine/processor';
import { spanWords, type MarkdownSpan } from './markdown-spans.ts';
import { plainMarkdown, scanMarkdown, type MarkdownBlock, type MarkdownList } from './markdown.ts';

const spansInHtml = (spans: readonly MarkdownSpan[]): string =>
  spans
    .map((span) => {
      if (span.kind === 'text') return span.text;
      if (span.kind === 'picture') return `<img ${span.text} ${span.target}>`;
      const inner = 'spans' in span ? spansInHtml(span.spans) : span.text;
      return span.kind === 'link' ? `<a ${span.target}>${inner}</a>` : `<${span.kind}>${inner}</${span.kind}>`;
    })
    .join('');

/** About as a page would hold it. */
function inHtml(blocks: readonly MarkdownBlock[]): string {
  return blocks
    .map((block) => {
      if (block.kind === 'list') return `(${shape(block)})`;
      if (block.kind === 'quote') return `<q>${inHtml(block.blocks)}</q>`;
      if (block.kind === 'table') return block.rows.map((row) => row.map(spansInHtml).join(' ; ')).join(' / ');
      if (block.kind === 'rule') return '<hr>';
      if (block.kind === 'code' || block.kind === 'plain') return `<${block.kind}>${block.text}</${block.kind}>`;
      const inner = spansInHtml(block.spans);
      return block.kind === 'heading' ? `<h>${inner}</h>` : inner;
    })
    .join(' ');
}

/** A list as words, with what is set in in brackets. */
const shape = ({ ordered, items }: MarkdownList): string =>
  items
    .map(({ spans, checked, blocks }) => {
      const task = checked === undefined ? '' : checked ? '[x] ' : '[ ] ';
      const below = blocks
        .map((block) => (block.kind === 'list' ? `(${shape(block)})` : `{${inHtml([block])}}`))
        .join('');
      return `${ordered ? '#' : '-'}${task}${spanWords(spans)}${below}`;
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
  assert.deepEqual(paragraph?.kind === 'paragraph' && paragraph.spans.map((span) => [span.kind, spanWords([span])]), [
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
    'News Berlin moved: to 5 May · in the Arena',
  );
});

const SPANS: Record<string, string> = {
  '**[x](https://y.example)**': '<strong><a https://y.example>x</a></strong>',
  '**run `npm test` now**': '<strong>run <code>npm test</code> now</strong>',
  '***x***': '<em><strong>x</strong></em>',
  '***a** b*': '<em><strong>a</strong> b</em>',
  '***a* b**': '<strong><em>a</em> b</strong>',
  '**a *b***': '<strong>a <em>b</em></strong>',
  '**a *b* c**': '<strong>a <em>b</em> c</strong>',
  '~~**a**~~': '<del><strong>a</strong></del>',
  '_em_ and snake_case_name, _a b_.': '<em>em</em> and snake_case_name, <em>a b</em>.',
  '__init__ and *a*': '<strong>init</strong> and <em>a</em>',
  '**Note: **text': '<strong>Note: </strong>text',
  '**a *b**': '<strong>a *b</strong>',
  '*a **b *c*': '*a **b <em>c</em>',
  '**Price*: 5': '**Price*: 5',
  '2 ** 3 ** 4 and 2 * 3': '2 ** 3 ** 4 and 2 * 3',
  '\\*not\\* \\`code\\` \\[x](https://y.example) C:\\dir':
    '*not* `code` [x](<a https://y.example>https://y.example</a>) C:\\dir',
  '`` a ` b `` and ```c```': '<code>a ` b</code> and <code>c</code>',
  'a<br>b<BR />c<brr>': 'a\nb\nc<brr>',
  '![a *b*](https://y.example/p.png)': '<img a b https://y.example/p.png>',
  '![](out/chart.png) [r](./out/r.md)': '<img  out/chart.png> <a ./out/r.md>r</a>',
  '[![a](b.png)](https://y.example)': '<a https://y.example><img a b.png></a>',
  '[w](https://y.example/a_(b) "Title")': '<a https://y.example/a_(b)>w</a>',
  '[https://y.example](https://y.example)': '<a https://y.example>https://y.example</a>',
  '**https://y.example/a**, <https://z.example>':
    '<strong><a https://y.example/a>https://y.example/a</a></strong>, <a https://z.example>https://z.example</a>',
  '[1] f[x](y) [m](mailto:a@b.example) [n](//evil.example/a) [o](data:text/html,x)':
    '[1] f[x](y) [m](mailto:a@b.example) [n](//evil.example/a) [o](data:text/html,x)',
};

for (const [text, expected] of Object.entries(SPANS))
  test(`in a line: ${text}`, () => assert.equal(inHtml(scanMarkdown(text)), expected));

const BLOCKS: Record<string, [text: string, expected: string]> = {
  'code in an item': [
    '1. First:\n   ```js\n   if (a) {\n     b();\n   }\n\n   c();\n   ```\n   then\n2. Second',
    '(#First:{<code>if (a) {\n  b();\n}\n\nc();</code>}{then} #Second)',
  ],
  'code that is set in less than its item': ['- a\n  ```\nb\n  ```\n- c', '(-a{<code>b</code>} -c)'],
  'code that is not ended yet': ['- a\n  ```\n  b\n\nc', '(-a{<code>b</code>}) c'],
  'more paragraphs of an item': ['- a\n\n  b\n\n  > c\n- d', '(-a{b}{<q>c</q>} -d)'],
  tabs: ['- a\n\t- b', '(-a(-b))'],
  'gaps of any size': ['1. a\n\n\n2. b', '(#a #b)'],
  'lines across': ['a\n\n---\n* * *\n___\n- b', 'a <hr> <hr> <hr> (-b)'],
  'headings of all sizes': ['##### a\n###### **b**', '<h>a</h> <h><strong>b</strong></h>'],
  'lists in quotes': ['> Said:\n> - a\n>   - b\n> > c', '<q>Said: (-a(-b)) <q>c</q></q>'],
  'a bar in code': ['| a | b |\n|---|---|\n| `x|y` | p\\|q<br>r |', '<code>x|y</code> ; p|q\nr'],
  'code in code': ['````md\n```js\na\n```\n````\nb', '<code>```js\na\n```</code> b'],
};

for (const [name, [text, expected]] of Object.entries(BLOCKS))
  test(`blocks: ${name}`, () => assert.equal(inHtml(scanMarkdown(text)), expected));

test('deep and long lists stay bounded', () => {
  const deep = Array.from({ length: 3000 }, (_, at) => `${' '.repeat(at * 2)}- x`).join('\n');
  const ms = processorMs(() => {
    scanMarkdown(deep);
    scanMarkdown('- x\n'.repeat(50_000));
    scanMarkdown(`~~${'~'.repeat(100_000)}`);
  });
  assert.ok(ms < 5000, `${ms} ms`);
});
