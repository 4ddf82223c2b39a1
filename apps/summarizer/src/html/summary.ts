import { createScanner, readAttributes, type Handler, type Scanner, type ScannerOptions } from './scanner.ts';
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

class PageSummary implements Summarizer, Handler {
  readonly #counter = createWordCounter();
  readonly #headings = new Set<string>();
  readonly #paragraphs = new Set<string>();
  readonly #hidden = createHidden();
  #title = '';
  #firstH1 = '';
  #description = '';
  #ogDescription = '';
  #heading: Capture | undefined;
  #headingName = '';
  #paragraph: Capture | undefined;
  readonly #scanner: Scanner;

  constructor(options?: ScannerOptions) {
    this.#scanner = createScanner(this, options);
  }

  write(piece: string): void {
    this.#scanner.write(piece);
  }

  text(raw: string): void {
    if (this.#hidden.now()) return;
    const text = decodeText(raw);
    this.#counter.add(text);
    this.#heading?.add(text);
    this.#paragraph?.add(text);
  }

  title(raw: string): void {
    if (this.#title === '') this.#title = cut(collapse(decodeText(raw)), MAX_TEXT);
  }

  open(name: string, attributes: string): void {
    this.#separate(name);
    this.#hidden.open(name, attributes);
    if (name === 'meta') this.#readMeta(attributes);
    else if (this.#hidden.now()) return;
    else if (name === 'p') {
      if (this.#paragraphs.size < MAX_PARAGRAPHS) this.#paragraph = createCapture(MAX_TEXT);
    } else if (isHeading(name)) {
      this.#endHeading();
      this.#headingName = name;
      const wanted = this.#headings.size < MAX_HEADINGS || (name === 'h1' && this.#firstH1 === '');
      if (wanted && name <= 'h3') this.#heading = createCapture(MAX_TEXT);
    }
  }

  close(name: string): void {
    this.#separate(name);
    this.#hidden.close(name);
    if (isHeading(name)) this.#endHeading();
  }

  end(): void {
    this.#scanner.end();
    this.#endHeading();
    this.#endParagraph();
  }

  result(): Summary {
    return {
      title: this.#title || this.#firstH1,
      description: this.#description || this.#ogDescription,
      headings: [...this.#headings],
      paragraphs: [...this.#paragraphs],
      wordCount: this.#counter.count(),
    };
  }

  #endHeading(): void {
    const text = this.#heading?.take() ?? '';
    this.#heading = undefined;
    if (this.#headingName === 'h1' && this.#firstH1 === '') this.#firstH1 = text;
    if (text.length >= 3 && text.length <= 199 && this.#headings.size < MAX_HEADINGS) this.#headings.add(text);
  }

  #endParagraph(): void {
    const text = this.#paragraph?.take() ?? '';
    this.#paragraph = undefined;
    if (text.length >= 21 && text.length <= 1999 && this.#paragraphs.size < MAX_PARAGRAPHS) this.#paragraphs.add(text);
  }

  #separate(name: string): void {
    const effect = EFFECTS.get(name);
    if (effect === undefined) return;
    this.#counter.separate();
    if (effect === BLOCK && this.#paragraph) this.#endParagraph();
    this.#paragraph?.add(' ');
    this.#heading?.add(' ');
  }

  #readMeta(attributes: string): void {
    const found = readAttributes(attributes, ['name', 'property', 'content']);
    const name = (found.get('name') ?? found.get('property') ?? '').toLowerCase();
    const property = (found.get('property') ?? name).toLowerCase();
    const content = () => cut(collapse(decodeAttribute(found.get('content') ?? '')), MAX_TEXT);
    if (name === 'description' && this.#description === '') this.#description = content();
    else if (property === 'og:description' && this.#ogDescription === '') this.#ogDescription = content();
  }
}

export const createSummary = (options?: ScannerOptions): Summarizer => new PageSummary(options);

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
