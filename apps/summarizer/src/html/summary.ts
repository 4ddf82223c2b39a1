import { createScanner, readAttributes, type Scanner, type ScannerOptions } from './scanner.ts';
import { collapse, createCapture, createWordCounter, cut, decodeAttribute, decodeText, type Capture } from './text.ts';

export interface Summary {
  title: string;
  description: string;
  headings: string[];
  paragraphs: string[];
  wordCount: number;
}

const MAX_HEADINGS = 20;
const MAX_PARAGRAPHS = 10;
const MAX_TEXT = 2_000;

const BREAK = 1;
const BLOCK = 2;

/** Elements that begin a new word; blocks also end a paragraph that is still open. All others are inline. */
const EFFECTS: ReadonlyMap<string, number> = new Map([
  ...words(
    'br img input button select option optgroup textarea svg video audio canvas iframe object embed script style',
  ).map((name) => [name, BREAK] as const),
  ...words(
    'address article aside blockquote body caption center col colgroup dd details dialog dir div dl dt fieldset',
    'figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li main menu nav ol p pre',
    'search section summary table tbody td tfoot th thead tr ul',
  ).map((name) => [name, BLOCK] as const),
]);

/** Without an end tag of their own, or with one that may be left out; `html` and `body` are often hidden until a script ran. */
const ENDED_BY_OTHERS = new Set(
  words(
    'area base br col embed hr img input link meta param source track wbr',
    'html head body li dt dd tr td th thead tbody tfoot caption colgroup option optgroup rp rt',
  ),
);

function words(...lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split(' '));
}

export interface Summarizer extends Scanner {
  result: () => Summary;
}

export function createSummary(options?: ScannerOptions): Summarizer {
  const counter = createWordCounter();
  const headings = new Set<string>();
  const paragraphs = new Set<string>();
  const hidden = createHidden();
  let title = '';
  let firstH1 = '';
  let description = '';
  let ogDescription = '';
  let heading: Capture | undefined;
  let headingName = '';
  let paragraph: Capture | undefined;

  function endHeading() {
    const text = heading?.take() ?? '';
    heading = undefined;
    if (headingName === 'h1' && firstH1 === '') firstH1 = text;
    if (text.length >= 3 && text.length <= 199 && headings.size < MAX_HEADINGS) headings.add(text);
  }

  function endParagraph() {
    const text = paragraph?.take() ?? '';
    paragraph = undefined;
    if (text.length >= 21 && text.length <= 1999 && paragraphs.size < MAX_PARAGRAPHS) paragraphs.add(text);
  }

  function separate(name: string) {
    const effect = EFFECTS.get(name);
    if (effect === undefined) return;
    counter.separate();
    if (effect === BLOCK && paragraph) endParagraph();
    paragraph?.add(' ');
    heading?.add(' ');
  }

  function readMeta(attributes: string) {
    const found = readAttributes(attributes, ['name', 'property', 'content']);
    const name = (found.get('name') ?? found.get('property') ?? '').toLowerCase();
    const property = (found.get('property') ?? name).toLowerCase();
    const content = () => cut(collapse(decodeAttribute(found.get('content') ?? '')), MAX_TEXT);
    if (name === 'description' && description === '') description = content();
    else if (property === 'og:description' && ogDescription === '') ogDescription = content();
  }

  const scanner = createScanner(
    {
      text(raw) {
        if (hidden.now()) return;
        const text = decodeText(raw);
        counter.add(text);
        heading?.add(text);
        paragraph?.add(text);
      },
      title(raw) {
        if (title === '') title = cut(collapse(decodeText(raw)), MAX_TEXT);
      },
      open(name, attributes) {
        separate(name);
        hidden.open(name, attributes);
        if (name === 'meta') readMeta(attributes);
        else if (hidden.now()) return;
        else if (name === 'p') {
          if (paragraphs.size < MAX_PARAGRAPHS) paragraph = createCapture(MAX_TEXT);
        } else if (isHeading(name)) {
          endHeading();
          headingName = name;
          const wanted = headings.size < MAX_HEADINGS || (name === 'h1' && firstH1 === '');
          if (wanted && name <= 'h3') heading = createCapture(MAX_TEXT);
        }
      },
      close(name) {
        separate(name);
        hidden.close(name);
        if (isHeading(name)) endHeading();
      },
    },
    options,
  );

  return {
    write: scanner.write,
    end() {
      scanner.end();
      endHeading();
      endParagraph();
    },
    result: () => ({
      title: title || firstH1,
      description: description || ogDescription,
      headings: [...headings],
      paragraphs: [...paragraphs],
      wordCount: counter.count(),
    }),
  };
}

const isHeading = (name: string): boolean => name.length === 2 && name >= 'h1' && name <= 'h6';

/**
 * Follows the outermost element that is not shown. Counting its own name is enough, because the elements that something
 * else can end are left out; a `p`, which any block ends, is followed on its own.
 */
function createHidden() {
  let name = '';
  let depth = 0;
  const ends = (other: string) => name === 'p' && EFFECTS.get(other) === BLOCK;
  return {
    now: () => depth > 0,
    open(opened: string, attributes: string) {
      if (depth > 0 && ends(opened)) depth = 0;
      if (depth > 0) {
        if (opened === name) depth += 1;
      } else if (opened === 'template' || hides(opened, attributes)) {
        name = opened;
        depth = 1;
      }
    },
    close(closed: string) {
      if (depth > 0 && (closed === name || ends(closed))) depth -= 1;
    },
  };
}

const hides = (name: string, attributes: string): boolean =>
  attributes.length > 6 &&
  /hidden/i.test(attributes) &&
  !ENDED_BY_OTHERS.has(name) &&
  readAttributes(attributes, ['hidden']).has('hidden');
