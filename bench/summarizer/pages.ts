/** The pages that the summarizer is measured on. */

const SENTENCE =
  'The quick brown fox jumps over the lazy dog &amp; runs on through the caf\u00e9 quarter of the old town';

const block = (index: number): string => `
<section class="card card--wide mt-4 mb-2" id="part-${index}" data-index="${index}">
  <!-- part ${index} -->
  <h2 class="card__title">Part ${index} of the story</h2>
  <p class="lead">${SENTENCE}, number ${index}. <a class="link" href="/stories/${index}?ref=list&amp;page=${index % 7}" title="Read on">Read part ${index}</a> for <strong>more</strong> of it.</p>
  <figure><img class="img-fluid" src="/media/${index}.jpg" alt="Picture ${index}" width="640" height="480" loading="lazy"></figure>
  <p>${SENTENCE}. ${SENTENCE}. <em>${SENTENCE}</em>, said ${index} people.</p>
  <ul class="tags">
    <li><a href="/tags/${index}">tag ${index}</a></li>
    <li>plain text &ndash; with a dash</li>
  </ul>
  <script>window.track = window.track || []; window.track.push({ part: ${index}, html: "<p>not text</p>" });</script>
</section>`;

export function ordinaryPage(bytes: number): string {
  const head = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>A long story &mdash; told in parts</title>
<meta name="description" content="All parts of the story"><meta property="og:title" content="The story">
<meta property="og:image" content="https://site.example/cover.jpg"><meta name="twitter:card" content="summary">
<style>.card{display:flex;color:#333}.card__title{font-size:2rem}</style><link rel="stylesheet" href="/style.css"></head>
<body><h1>A long story</h1>`;
  const parts = [head];
  for (let index = 0, length = head.length; length < bytes; index += 1) {
    const part = block(index);
    parts.push(part);
    length += part.length;
  }
  return `${parts.join('')}\n</body></html>\n`;
}

const MB = 1_000_000;
const fill = (unit: string, length = MB): string => unit.repeat(Math.floor(length / unit.length));
const numbered = (unit: (index: number) => string): string => {
  const parts: string[] = [];
  for (let index = 0, length = 0; length < MB; index += 1) {
    const part = unit(index);
    parts.push(part);
    length += part.length;
  }
  return parts.join('');
};

/** 1 MB each of what is hard for a parser of one kind or another. */
export const hostilePages: Record<string, string> = {
  'nested divs': fill('<div>'),
  'nested formatting': fill('<b><i>'),
  'open paragraphs': fill('<p>'),
  'open headings': fill('<h1>a'),
  'open brackets': fill('<'),
  'half tags': fill('<a '),
  'end tags': fill('</a>'),
  'many attributes': `<a ${fill('a=1 ')}`,
  'distinct attributes': `<a ${numbered((index) => `a${index} `)}>`,
  'attributes in many tags': fill('<a b c=\'d\' e="hidden">'),
  'open quote': `<a href="${fill('x')}`,
  'open comment': `<!--${fill('- ')}`,
  dashes: `<!--${fill('-')}`,
  'small comments': fill('<!-->'),
  ampersands: fill('&'),
  'half entities': fill('&amp'),
  'long entities': fill('&CounterClockwiseContourIntegral;'),
  'half end tags in a script': `<script>${fill('</scrip')}`,
  'half end tags in a title': `<title>${fill('</titl ')}`,
  'white space': `<p>${fill(' \n')}`,
  'one-letter words': fill('a '),
  'hidden elements': fill('<x hidden>'),
  'almost hidden elements': fill('<x a=hidden>'),
  templates: fill('<template>'),
  drawings: fill('<svg>'),
  'distinct links': numbered((index) => `<a href=${index}>`),
  'broken links': numbered((index) => `<a href=//[${index}>`),
  'distinct images': numbered((index) => `<img src=${index} alt=x>`),
  metadata: numbered((index) => `<meta name=og:${index} content=x>`),
  tables: fill('<table><tr><td>'),
  'wide characters': fill('\u65e5\u672c ', MB / 3),
};
