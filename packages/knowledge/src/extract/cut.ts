import { tableLine, type Block } from './blocks.ts';

/** A piece of a document that is found and shown by itself. */
export interface Passage {
  /** The headings above it, outermost first, and the page, sheet or slide that it begins on. */
  heading: string;
  place: string;
  text: string;
}

/** Characters: about 200 words. A third of it is too little to stand alone. */
const MOST = 1200;
export const MAX_PASSAGES = 20_000;

/** How long passages are, and with how much of the one before each begins, where a heading does not part them. */
export interface Cut {
  size?: number | undefined;
  overlap?: number | undefined;
}

/** Cuts where the document itself does: at headings and between paragraphs, and only what is too long within one. */
export function cut(blocks: readonly Block[], how: Cut = {}): { passages: Passage[]; more: boolean } {
  const cutter = new Cutter(how);
  for (const block of blocks) cutter.take(block);
  cutter.flush();
  return { passages: cutter.passages.slice(0, MAX_PASSAGES), more: cutter.passages.length > MAX_PASSAGES };
}

class Cutter {
  readonly passages: Passage[] = [];
  readonly #above: string[] = [];
  #place = '';
  #from = '';
  #said: string[] = [];
  #size = 0;
  #again = '';
  readonly #most: number;
  readonly #overlap: number;

  constructor({ size = MOST, overlap = 0 }: Cut) {
    this.#most = size;
    // More than half would never come to an end.
    this.#overlap = Math.min(overlap, Math.floor(size / 2));
  }

  take(block: Block): void {
    if (block.kind === 'place') {
      // A page may end within a paragraph; a sheet or a slide ends what it says.
      if (!block.place.startsWith('Page') || this.#size >= this.#most / 3) this.flush();
      this.#place = block.place;
    } else if (block.kind === 'heading') {
      this.flush();
      this.#above.length = Math.min(this.#above.length, block.level - 1);
      while (this.#above.length < block.level - 1) this.#above.push('');
      this.#above.push(block.text);
    } else if (block.kind === 'table') for (const piece of tablePieces(block, this.#most)) this.#add(piece);
    else for (const piece of pieces(block.text, this.#most)) this.#add(piece);
  }

  #add(piece: string): void {
    if (this.#size > 0 && this.#size + piece.length > this.#most) {
      const again = ending(this.#said.join('\n\n'), this.#overlap);
      this.flush();
      this.#again = again;
    }
    if (this.#size === 0) this.#from = this.#place;
    this.#said.push(piece);
    this.#size += piece.length + 2;
  }

  flush(): void {
    const text = [this.#again, ...this.#said].filter(Boolean).join('\n\n');
    const isSaid = this.#said.length > 0;
    const heading = this.#above.filter(Boolean).join(' › ');
    this.#said = [];
    this.#size = 0;
    this.#again = '';
    if (isSaid && text !== '' && this.passages.length <= MAX_PASSAGES)
      this.passages.push({ heading, place: this.#from, text });
  }
}

/** The last whole words of a text, at most so many characters. */
function ending(text: string, most: number): string {
  if (most === 0 || text.length <= most) return most === 0 ? '' : text;
  const last = text.slice(-most);
  const space = last.search(/\s/);
  return space < 0 ? '' : last.slice(space + 1);
}

/** A paragraph, in parts of whole sentences where it is too long; a sentence, in parts of whole words. */
function* pieces(text: string, most: number): Generator<string> {
  if (text.length <= most) return yield text;
  let part = '';
  for (const [sentence] of text.matchAll(/[^.!?。！？\n]+(?:[.!?。！？]+["'”’)\]]*\s*|\n+|$)|[.!?。！？\n]+/g)) {
    if (part !== '' && part.length + sentence.length > most) {
      yield part.trim();
      part = '';
    }
    for (const short of shorter(sentence, most)) {
      if (part.length + short.length > most) {
        yield part.trim();
        part = '';
      }
      part += short;
    }
  }
  if (part.trim() !== '') yield part.trim();
}

function* shorter(sentence: string, most: number): Generator<string> {
  let rest = sentence;
  while (rest.length > most) {
    const space = rest.lastIndexOf(' ', most);
    let at = space > most / 2 ? space + 1 : most;
    // Never half a character.
    if (at === most && rest.charCodeAt(at - 1) >= 0xd800 && rest.charCodeAt(at - 1) <= 0xdbff) at -= 1;
    yield rest.slice(0, at);
    rest = rest.slice(at);
  }
  yield rest;
}

/** Rows with their head over each piece, so that every value keeps its name. */
function* tablePieces({ rows, head }: Extract<Block, { kind: 'table' }>, most: number): Generator<string> {
  const top = head && rows[0] ? tableLine(rows[0]) : '';
  // A head that is longer than a passage names nothing.
  const title = top.length < most / 2 ? top : '';
  let part = title;
  for (const row of title === '' ? rows : rows.slice(1)) {
    const next = tableLine(row);
    if (part.length > title.length && part.length + next.length > most) {
      yield part;
      part = title;
    }
    if (next.length > most) {
      if (part !== '') yield part;
      yield* pieces(next, most);
      part = title;
    } else part += part === '' ? next : `\n${next}`;
  }
  if (part !== '' && (part !== title || rows.length === 1)) yield part;
}
