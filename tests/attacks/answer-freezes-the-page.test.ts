import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { markdownSpans, scanMarkdown, spanWords } from '@troupe/domain';

/** A line of 2,000 dashes in an answer stopped the reader's page for nine seconds. */

const words = (text: string) => markdownSpans(text).map((span) => `${span.kind}:${spanWords([span])}`);

describe('blocks', () => {
  test('headings, lists, quotes, code and paragraphs', () => {
    const text = '# Title\n\nOne\ntwo\n- a\n  more\n- b\n1. x\n2) y\n> said\n> twice\n```js\n# code\n```\nend';
    const blocks = scanMarkdown(text);
    assert.deepEqual(
      blocks.map(({ kind }) => kind),
      ['heading', 'paragraph', 'list', 'list', 'quote', 'code', 'paragraph'],
    );
    assert.deepEqual(blocks[1], { kind: 'paragraph', spans: [{ kind: 'text', text: 'One\ntwo' }] });
    assert.deepEqual(blocks[2], {
      kind: 'list',
      ordered: false,
      start: 1,
      items: [
        { spans: [{ kind: 'text', text: 'a\nmore' }], blocks: [] },
        { spans: [{ kind: 'text', text: 'b' }], blocks: [] },
      ],
    });
    assert.deepEqual(blocks[5], { kind: 'code', text: '# code', language: 'js' });
  });

  test('a table needs its rule', () => {
    const [table] = scanMarkdown('| a | **b** |\n|---|:---:|\n| 1 | 2 |\n| 3 | 4 |');
    assert.deepEqual(table, {
      kind: 'table',
      head: [[{ kind: 'text', text: 'a' }], [{ kind: 'strong', spans: [{ kind: 'text', text: 'b' }] }]],
      rows: [
        [[{ kind: 'text', text: '1' }], [{ kind: 'text', text: '2' }]],
        [[{ kind: 'text', text: '3' }], [{ kind: 'text', text: '4' }]],
      ],
      align: [undefined, 'center'],
    });
    assert.deepEqual(
      scanMarkdown('| a |\n| x |').map(({ kind }) => kind),
      ['paragraph', 'paragraph'],
    );
    assert.equal(scanMarkdown('####### seven')[0]?.kind, 'paragraph');
    assert.equal(scanMarkdown('1234. four digits')[0]?.kind, 'paragraph');
  });
});

describe('inside a line', () => {
  test('emphasis, code, links', () => {
    assert.deepEqual(words('a `b*c*` **d** __e__ *f* g'), [
      'text:a ',
      'code:b*c*',
      'text: ',
      'strong:d',
      'text: ',
      'strong:e',
      'text: ',
      'em:f',
      'text: g',
    ]);
    assert.deepEqual(markdownSpans('[here](https://example.org/a) and http://b.example/x, ok.'), [
      { kind: 'link', spans: [{ kind: 'text', text: 'here' }], target: 'https://example.org/a' },
      { kind: 'text', text: ' and ' },
      {
        kind: 'link',
        spans: [{ kind: 'text', text: 'http://b.example/x' }],
        target: 'http://b.example/x',
      },
      { kind: 'text', text: ', ok.' },
    ]);
  });

  test('what is no mark stays as it is', () => {
    for (const text of ['2 * 3 * 4', '**', '`', '``', 'a_b_c', '[x](javascript:alert)', 'https://', '*a\nb*'])
      assert.deepEqual(words(text), [`text:${text}`]);
  });
});

/** Nothing that a text says may take more than its length: twice the text takes about twice the time. */
const HOSTILE: Record<string, (n: number) => string> = {
  'lists in lists': (n) => Array.from({ length: Math.sqrt(n) }, (_, at) => `${' '.repeat(at)}- x`).join('\n'),
  'waves that strike nothing': (n) => '~'.repeat(n),
  'waves in pairs': (n) => '~~a '.repeat(n / 4),
  'boxes of tasks': (n) => '- [ ] \n'.repeat(n / 7),
  'a rule of dashes': (n) => `|a|\n${'-'.repeat(n)}x`,
  'a rule of dashes and bars': (n) => `|a|\n${'-|'.repeat(n / 2)}x`,
  'spaces and an end of line': (n) => `# ${' '.repeat(n)}x\u2028y`,
  'bars and spaces': (n) => `|${'| '.repeat(n / 2)}x`,
  'open brackets': (n) => '[a'.repeat(n / 2),
  'open links': (n) => '[a](http://'.repeat(n / 11),
  'open code and stars': (n) => '*a`__'.repeat(n / 5),
  'addresses of dots': (n) => `https://${'.'.repeat(n / 2)}`.repeat(2),
  'many addresses': (n) => 'http://'.repeat(n / 7),
  'empty lines': (n) => '\n'.repeat(n),
  'short lines': (n) => '> \n- \n|\n'.repeat(n / 8),
  'fences that never close': (n) => '```\nx\n'.repeat(n / 6),
  'stars in all lengths': (n) => '*a **b ***c '.repeat(n / 12),
  'marks in marks': (n) => '**_~~*__[a'.repeat(n / 10),
  'marks that open and close': (n) => '***a*b**c'.repeat(n / 9),
  'ticks of all lengths': (n) => Array.from({ length: Math.sqrt(2 * n) }, (_, at) => '`'.repeat(at + 1)).join(' '),
  'ticks that find no end': (n) => '` `` ``` x\n'.repeat(n / 11),
  'pictures that never end': (n) => '![a]('.repeat(n / 5),
  'pictures in links': (n) => '[![a](b.png)'.repeat(n / 12),
  'titles that never end': (n) => '[a](b.c "'.repeat(n / 9),
  'one title that never ends': (n) => `[a](b.c "${'") '.repeat(n / 3)}`,
  'brackets in pairs': (n) => `[a](${'('.repeat(n)}`,
  backslashes: (n) => '\\*'.repeat(n / 2),
  'line breaks': (n) => '<br'.repeat(n / 3),
  angles: (n) => '<http://'.repeat(n / 8),
  'quotes in quotes': (n) => '>'.repeat(n),
  'lines of quotes in quotes': (n) => `${'> '.repeat(50)}x\n`.repeat(n / 102),
  'lists in quotes in lists': (n) => `${'- > '.repeat(25)}x\n`.repeat(n / 102),
  'items on one line': (n) => '- '.repeat(n / 2).concat('x'),
  'code in items that never ends': (n) => '- a\n  ````\n'.repeat(n / 11),
  'code in items, each shorter': (n) =>
    Array.from({ length: Math.sqrt(n) }, (_, at) => `- a\n  ${'`'.repeat(Math.sqrt(n) - at + 2)}\nx`).join('\n'),
  'gaps between items': (n) => `- a${'\n'.repeat(n / 4)}- b${'\n'.repeat(n / 4)}x`.repeat(2),
  'bars in code': (n) => `|a|\n|---|\n|${'`|'.repeat(n / 2)}|`,
  'cells of backslashes': (n) => `|a|\n|---|\n|${'\\|'.repeat(n / 2)}|`,
  'items set in': (n) => `- a\n${'  b\n'.repeat(n / 4)}`,
};

describe('a hostile text', () => {
  /** Of this thread alone: others may keep the machine busy. The clock is coarse, so it is done many times. */
  const taken = (text: string, times: number): number => {
    const began = process.threadCpuUsage();
    for (let time = 0; time < times; time += 1) {
      scanMarkdown(text);
      markdownSpans(text);
    }
    const { user, system } = process.threadCpuUsage(began);
    return (user + system) / 1000;
  };
  const best = (text: string, times: number): number =>
    Math.min(taken(text, times), taken(text, times), taken(text, times));

  for (const [name, make] of Object.entries(HOSTILE)) {
    test(`takes time by its length: ${name}`, () => {
      taken(make(100_000), 3);
      // The same characters in eight parts and in one: quadratic would be eight times the time.
      const [parts, whole] = [best(make(20_000), 16), best(make(160_000), 2)];
      assert.ok(whole < Math.max(parts, 10) * 3, `${parts.toFixed(1)} ms, then ${whole.toFixed(1)} ms`);
    });
  }

  /** What is drawn is drawn in depth: a page has a stack, and so has whoever looks at it. */
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

  for (const [name, make] of Object.entries(HOSTILE)) {
    test(`is nothing deep: ${name}`, () => {
      const text = make(4000);
      const blocks = scanMarkdown(text);
      assert.ok(depthOf(blocks) < 120, `${depthOf(blocks)} deep`);
    });
  }

  test('that is huge is shown as it is, whole', () => {
    const blocks = scanMarkdown('*a* '.repeat(500_000));
    const last = blocks.at(-1);
    assert.ok(blocks.length < 10);
    assert.ok(last?.kind === 'plain' && last.text.length > 1_700_000);
    const parts = scanMarkdown('- x\n'.repeat(40_000));
    const count = parts.reduce((sum, one) => sum + (one.kind === 'list' ? one.items.length : 1), 0);
    assert.ok(count <= 5001, `${count} parts`);
  });
});
