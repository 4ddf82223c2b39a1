import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createExtract } from './links.ts';
import { readPage } from './read.ts';
import { createScanner } from './scanner.ts';
import { createSummary } from './summary.ts';
import { createNextTurn } from './turns.ts';

const nextTurn = createNextTurn();

type Page = string | Uint8Array;

async function* inPieces(page: Page, size: number) {
  const bytes = Buffer.from(page as string);
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

async function summarize(page: Page, { type = 'text/html; charset=utf-8', size = 65_536, xml = false } = {}) {
  const summary = createSummary({ xml });
  await readPage(inPieces(page, size), type, summary, nextTurn);
  return summary.result();
}

async function extract(page: Page, url = 'https://site.example/dir/page?q=1') {
  const links = createExtract(url);
  await readPage(inPieces(page, 65_536), 'text/html', links, nextTurn);
  return links.result();
}

const words = async (page: string) => (await summarize(page)).wordCount;
const LONG = 'A paragraph that is long enough';

describe('title and description', () => {
  const cases: [string, string, string][] = [
    ['the title tag', '<title> A\n <b>page</b> &amp; more </title><h1>Other</h1>', 'A <b>page</b> & more'],
    ['the first h1 without one', '<h1></h1><h1>First <i>one</i></h1><h1>Second</h1>', 'First one'],
    ['the first h1 when it is empty', '<title> </title><h1>X</h1>', 'X'],
    ['not the title of a drawing', '<svg><title>Icon</title></svg><title>Page</title>', 'Page'],
    ['not one in a script', '<script>"<title>No</title>"</script><title>Yes</title>', 'Yes'],
    ['the first of two', '<title>One</title><title>Two</title>', 'One'],
    ['one that is never closed', '<title>Open end', 'Open end'],
    ['empty when there is none', '<p>text', ''],
  ];
  for (const [name, page, title] of cases) {
    test(`title: ${name}`, async () => assert.equal((await summarize(page)).title, title));
  }

  test('description: meta description before og:description, in any order and writing', async () => {
    const og = '<META content="From og" PROPERTY=og:description>';
    assert.equal((await summarize(og)).description, 'From og');
    assert.equal(
      (await summarize(`${og}<meta name='Description' content='It&#39;s &quot;it&quot;'/>`)).description,
      'It\'s "it"',
    );
    assert.equal((await summarize('<meta name=keywords content=no>')).description, '');
  });
});

describe('headings and paragraphs', () => {
  test('h1 to h3, each once, 3 to 199 characters, at most 20', async () => {
    const many = Array.from({ length: 30 }, (_, index) => `<h3>Number ${index}</h3>`).join('');
    const page = `<h1>One</h1><h2>Two</h2><h4>Four</h4><h2> Two </h2><h2>ab</h2><h2>${'x'.repeat(200)}</h2><h2>${'y'.repeat(199)}</h2>${many}`;
    const { headings } = await summarize(page);
    assert.deepEqual(headings.slice(0, 4), ['One', 'Two', 'y'.repeat(199), 'Number 0']);
    assert.equal(headings.length, 20);
  });

  test('paragraphs, each once, 21 to 1999 characters, at most 10', async () => {
    const p = (text: string) => `<p class="a">${text}</p>`;
    const bounds = [20, 21, 1999, 2000].map((length) => p('x'.repeat(length))).join('');
    const { paragraphs } = await summarize(bounds + p(LONG) + p(`  ${LONG.replace(' ', '\n\t ')}`));
    assert.deepEqual(paragraphs, ['x'.repeat(21), 'x'.repeat(1999), LONG]);
    const many = Array.from({ length: 30 }, (_, index) => p(`${LONG} ${index}`)).join('');
    assert.equal((await summarize(many)).paragraphs.length, 10);
  });

  test('white space is collapsed before lengths are counted, however much there is', async () => {
    const { paragraphs, headings } = await summarize(
      `<h1>a${' '.repeat(50_000)}b</h1><p>${' \n'.repeat(50_000)}${LONG}`,
    );
    assert.deepEqual([headings, paragraphs], [['a b'], [LONG]]);
  });

  test('a paragraph ends where the next block begins', async () => {
    const { paragraphs } = await summarize(
      `<p>${LONG} one<p>${LONG} <b>t</b>wo<div>not this</div><ul><li><p>${LONG} three</ul>rest`,
    );
    assert.deepEqual(paragraphs, [`${LONG} one`, `${LONG} two`, `${LONG} three`]);
  });

  test('line breaks separate, inline elements do not', async () => {
    assert.deepEqual((await summarize('<h2>One<br>two th<em>r</em>ee</h2>')).headings, ['One two three']);
  });

  test('entities are decoded', async () => {
    const { headings } = await summarize(
      '<h1>&lt;b&gt; &eacute;&#233;&#xE9; &notit; &nbsp; &copy 2 &unknown; &#128512;</h1>',
    );
    assert.deepEqual(headings, ['<b> ééé ¬it; © 2 &unknown; 😀']);
  });
});

describe('visible words', () => {
  const cases: [string, number][] = [
    ['', 0],
    ['<html><head><title>Not visible</title></head><body></body></html>', 0],
    ['one two  three', 3],
    ['<p>one</p><p>two</p>', 2],
    ['o<b>n</b>e <i>two</i>', 2],
    ['one<br>two<img src=x>three', 3],
    ['<td>one<td>two', 2],
    ['one<script>var no = "<p>no</p>"</script> two<style>no { no: no }</style>', 2],
    ['<noscript>no no</noscript><template>no <template>no</template> no</template>one', 1],
    ['<textarea>no no</textarea><iframe>no</iframe><!-- no no -->one', 1],
    ['<div hidden>no <div>no</div> no</div>one', 1],
    ['<p hidden>no no<p>one two', 2],
    ['<p hidden>no no<div>one</div>', 1],
    ['<body hidden>one', 1],
    ['<div class="overflow-hidden">one</div>', 1],
    ['one&nbsp;two&#32;three&ensp;four', 4],
    ['a &amp; b', 3],
    ['1 < 2 <3', 4],
    ['caf\u00e9 na\u00efve \u3000\u65e5\u672c', 3],
    ['<![CDATA[ no ]]>one<?php no ?>two', 1],
  ];
  for (const [page, count] of cases) {
    test(`${count} in ${JSON.stringify(page)}`, async () => assert.equal(await words(page), count));
  }
});

describe('links, images and metadata', () => {
  test('links are absolute, once, the first wins, with text or the address', async () => {
    const { links } = await extract(
      `<a href="/a?x=1&amp;y=2">First <b>A</b></a><a href="https://site.example/a?x=1&y=2">again</a><a href=b.html></a>
       <a href="//other.example/c"><img src=x></a><a href=" d ">D`,
    );
    assert.deepEqual(links, [
      { href: 'https://site.example/a?x=1&y=2', text: 'First A' },
      { href: 'https://site.example/dir/b.html', text: 'https://site.example/dir/b.html' },
      { href: 'https://other.example/c', text: 'https://other.example/c' },
      { href: 'https://site.example/dir/d', text: 'D' },
    ]);
  });

  test('anchors, scripts, mail, telephone and broken addresses are left out', async () => {
    const hrefs = [
      '#top',
      '',
      'javascript:x()',
      ' JavaScript:x()',
      'java\nscript:x()',
      'mailto:a@b',
      'TEL:1',
      'http://[',
      'http://',
    ];
    const { links } = await extract(
      `${hrefs.map((href) => `<a href="${href}">x</a>`).join('')}<a name=x>y</a><link href=z>`,
    );
    assert.deepEqual(links, []);
  });

  test('at most 50 links and 20 images, 100 characters of text', async () => {
    const page = Array.from(
      { length: 80 },
      (_, i) => `<a href=${i}>${'x'.repeat(99)}😀</a><img src=${i} alt="${'y'.repeat(200)}">`,
    );
    const { links, images } = await extract(page.join(''));
    assert.deepEqual([links.length, images.length], [50, 20]);
    assert.equal(links[0]?.text, 'x'.repeat(99));
    assert.equal(images[0]?.alt, 'y'.repeat(100));
  });

  test('images are absolute, once, without inline ones', async () => {
    const { images } = await extract(
      '<img src=a.png alt=" A  pic "><IMG SRC="./a.png"><img alt=none><img src="data:image/png;base64,AA"><img src=/b>',
    );
    assert.deepEqual(images, [
      { src: 'https://site.example/dir/a.png', alt: 'A pic' },
      { src: 'https://site.example/b', alt: '' },
    ]);
  });

  test('a base address counts, the first one, and only over http', async () => {
    const { links } = await extract(
      '<base href="javascript:0"><base href="https://base.example/x/"><base href="/no/"><a href=y>z</a>',
    );
    assert.deepEqual(links, [{ href: 'https://base.example/x/y', text: 'z' }]);
  });

  test('metadata: og:*, twitter:* and description, nothing else', async () => {
    const { meta } = await extract(
      `<meta property="og:title" content="T &amp; t"><meta name="twitter:card" content=card><meta name=description content=D>
       <meta property=og:title content=second><meta name=author content=no><meta property=og:empty>`,
    );
    assert.deepEqual(meta, { 'og:title': 'T & t', 'twitter:card': 'card', description: 'D' });
  });

  test('templates, scripts and comments hold no links', async () => {
    const a = '<a href=x>y</a><img src=z>';
    const { links, images } = await extract(
      `<template>${a}</template><script>${a}</script><!--${a}--><noscript>${a}</noscript>`,
    );
    assert.deepEqual([links, images], [[], []]);
  });

  test('reading stops when nothing is missing', async () => {
    let read = 0;
    const head = Array.from({ length: 60 }, (_, i) => `<a href=${i}>${i}</a><img src=${i}>`).join('');
    async function* endless() {
      yield Buffer.from(head);
      for (; read < 1000; read += 1) yield Buffer.alloc(1000, 'x');
    }
    const links = createExtract('http://site.example');
    await readPage(endless(), 'text/html', links, nextTurn);
    assert.equal(links.result().links.length, 50);
    assert.equal(read, 0);
  });
});

describe('character sets', () => {
  const latin = Buffer.from('<h1>Grüße</h1>', 'latin1');
  const utf16 = Buffer.from('\ufeff<h1>Grüße</h1>', 'utf16le');
  const cases: [string, Uint8Array, string][] = [
    ['the header', latin, 'text/html; charset="ISO-8859-1"'],
    ['a byte order mark before the header', utf16, 'text/html; charset=latin1'],
    ['UTF-8 with a mark', Buffer.from('\ufeff<h1>Grüße</h1>'), 'text/html; charset=latin1'],
    ['meta charset', Buffer.concat([Buffer.from('<meta charset=windows-1252>'), latin]), 'text/html'],
    [
      'meta http-equiv',
      Buffer.concat([Buffer.from('<meta http-equiv=content-type content="text/html; charset=latin1">'), latin]),
      'text/html',
    ],
    ['not a meta in a comment', Buffer.from('<!-- <meta charset=latin1> --><h1>Grüße</h1>'), 'text/html'],
    [
      'an XML declaration',
      Buffer.concat([Buffer.from('<?xml version="1.0" encoding="latin1"?>'), latin]),
      'application/xhtml+xml',
    ],
    ['an unknown one is passed over', Buffer.from('<meta charset=utf-8><h1>Grüße</h1>'), 'text/html; charset=klingon'],
    ['UTF-8 when nothing is said', Buffer.from('<h1>Grüße</h1>'), 'text/html'],
    ['windows-1252 when it cannot be UTF-8', latin, 'text/html'],
  ];
  for (const [name, page, type] of cases) {
    test(name, async () => assert.deepEqual((await summarize(page, { type })).headings, ['Grüße']));
  }
  test('Japanese', async () => {
    const page = Buffer.from([
      0x3c, 0x68, 0x31, 0x3e, 0x93, 0xfa, 0x96, 0x7b, 0x8c, 0xea, 0x3c, 0x2f, 0x68, 0x31, 0x3e,
    ]);
    assert.deepEqual((await summarize(page, { type: 'text/html; charset=Shift_JIS' })).headings, ['日本語']);
  });
});

describe('broken markup', () => {
  const headings: [string, string[]][] = [
    ['<!--><h1>One</h1>', ['One']],
    ['<!---><h1>One</h1>', ['One']],
    ['<!-- a --!><h1>One</h1>', ['One']],
    ['<!-- <h1>No</h1> -- > --><h1>One</h1>', ['One']],
    ['<!-- never closed <h1>No</h1>', []],
    ['<h1 title="a > b">One</h1>', ['One']],
    ["<h1 title='<h1>'>One</h1>", ['One']],
    ['<h1 a=it\'s b>One</h1 x="</h1>">', ['One']],
    ['<h1/x="a>b">One</h1>', ['One']],
    ['<H1\n>One</H1 >', ['One']],
    ['<h1>One</h2>two', ['One']],
    ['<h1>One<h2>Two', ['One', 'Two']],
    ['<h1>One</ ignored></><!doctype x></h1>', ['One']],
    ['<h1>a < b <> c</h1>', ['a < b <> c']],
    ['<h1>One</h1', ['One']],
    ['<h1>One</h1><', ['One']],
    ['<h1 class="never closed><h1>No</h1>', []],
    ['<script><!-- </scripty> </SCRIPT ><h1>One</h1>', ['One']],
    ['<script>never closed <h1>No</h1>', []],
    ['<svg><script/><title/></svg><h1>One</h1>', ['One']],
  ];
  for (const [page, expected] of headings) {
    test(JSON.stringify(page), async () => assert.deepEqual((await summarize(page)).headings, expected));
  }

  test('in XHTML an empty element is empty', async () => {
    const page = '<script src="x"/><h1>One</h1>';
    assert.deepEqual((await summarize(page, { xml: true })).headings, ['One']);
    assert.deepEqual((await summarize(page)).headings, []);
  });

  test('the result does not depend on where the pieces are cut', async () => {
    const page = `<!doctype html><html><head><title>T &eacute;t</title><meta name="description" content="a > b"></head>
      <body><!-- c -- > --><h1 title='x"y'>H &amp; h</h1><script>"</scr" + "</script"</script><p>${LONG} &nbsp; caf\u00e9 \u{1f600}</p>
      <![CDATA[x]]><textarea></p></textarea>1 < 2 <a href="x">l</a></body>`;
    const whole = await summarize(page);
    assert.deepEqual(
      [whole.title, whole.headings, whole.paragraphs],
      ['T \u00e9t', ['H & h'], [`${LONG} caf\u00e9 \u{1f600}`]],
    );
    for (const size of [1, 2, 3, 5, 7, 11])
      assert.deepEqual(await summarize(page, { size }), whole, `pieces of ${size}`);
    // One character at a time, past the buffering that finds the character set.
    const events: string[] = [];
    const handler = {
      text: (raw: string) => events.push(raw),
      open: (name: string, attributes: string) => events.push(`<${name}${attributes}>`),
      close: (name: string) => events.push(`</${name}>`),
      title: (raw: string) => events.push(raw),
    };
    const atOnce = createScanner(handler);
    atOnce.write(page);
    atOnce.end();
    const expected = events.splice(0).join('');
    const single = createScanner(handler);
    for (const char of page) single.write(char);
    single.end();
    assert.equal(events.join(''), expected);
  });
});

describe('hostile pages are read to the end', () => {
  const fill = (unit: string, length = 1_000_000) => unit.repeat(Math.ceil(length / unit.length));
  const tail = `<h1>End</h1>`;
  const pages: Record<string, [string, boolean]> = {
    '50,000 nested elements': [fill('<div>', 250_000) + tail, true],
    'a million attributes': [`<a ${fill('a=1 ', 4_000_000)}>${tail}`, true],
    'an unclosed comment': [`<!--${fill('-->x'.slice(1))}`, false],
    'a million brackets': [fill('<') + tail, true],
    'a million ampersands': [fill('&') + tail, true],
    'many small comments': [fill('<!-->') + tail, true],
    'a long attribute': [`<a href="${fill('x')}">${tail}`, true],
    'half end tags in a script': [`<script>${fill('</scrip')}</script>${tail}`, true],
    'nested templates': [fill('<template>') + fill('</template>', 2_000_000) + tail, true],
  };
  for (const [name, [page, reached]] of Object.entries(pages)) {
    test(name, async () => {
      assert.equal((await summarize(page)).headings.includes('End'), reached);
      assert.ok(await extract(page));
    });
  }

  test('other work gets its turn in between', async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await summarize(fill('<b x="y">z</b>', 4_000_000));
    clearInterval(timer);
    assert.ok(turns > 2, `${turns} turns`);
  });

  test('of many that wait only one goes on before other work', async () => {
    const order: string[] = [];
    const loop = () => new Promise<void>((resolve) => setImmediate(resolve));
    const one = async (name: string) => {
      await nextTurn();
      order.push(name);
    };
    const all = [one('a'), one('b'), one('c')];
    for (let i = 0; i < 3; i += 1) {
      await loop();
      order.push('other');
    }
    await Promise.all(all);
    assert.deepEqual(order, ['a', 'other', 'b', 'other', 'c', 'other']);
  });
});
