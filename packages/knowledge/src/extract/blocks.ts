/** What a document says, in the order in which it says it. */
export type Block =
  | { kind: 'heading'; level: number; text: string }
  | { kind: 'text'; text: string }
  /** The first row is the head where `head` says so. */
  | { kind: 'table'; rows: string[][]; head: boolean }
  /** From here on it is this page, sheet or slide. */
  | { kind: 'place'; place: string };

export const DOCUMENT_KINDS = ['text', 'markdown', 'html', 'pdf', 'docx', 'xlsx', 'pptx', 'csv', 'email'] as const;
export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

/** Why a document cannot be read, in a sentence for its owner. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

/** It is nothing that has words: a picture, an archive, a program. */
export class NoDocument extends Unreadable {}

export interface Reading {
  title?: string;
  blocks: Block[];
  /** What was left out, in sentences. */
  notes: string[];
}

/** Of one document. */
export const MAX_TEXT = 8_000_000;
export const MAX_CELLS = 200_000;

/** Collects blocks up to the bound of a document's text; `full` says that there was more. */
export class Blocks {
  readonly all: Block[] = [];
  full = false;
  #room = MAX_TEXT;

  add(block: Block): void {
    const size = block.kind === 'table' ? sizeOf(block.rows) : block.kind === 'place' ? 0 : block.text.length;
    if (size === 0 && block.kind !== 'place') return;
    if (this.full) return;
    if (size > this.#room) {
      this.full = true;
      // Of a text that has no end the beginning is kept.
      if (block.kind === 'text') this.all.push({ ...block, text: block.text.slice(0, this.#room) });
      return;
    }
    this.#room -= size;
    this.all.push(block);
  }

  text(text: string): void {
    const tidied = tidy(text);
    if (tidied !== '') this.add({ kind: 'text', text: tidied });
  }

  heading(level: number, text: string): void {
    const tidied = tidy(text).replaceAll('\n', ' ').slice(0, MAX_HEADING);
    if (tidied !== '') this.add({ kind: 'heading', level, text: tidied });
  }

  done(title?: string, notes: string[] = []): Reading {
    const all = this.full ? [...notes, `Only the first ${MAX_TEXT / 1e6} million characters were read.`] : notes;
    return {
      ...(title !== undefined && title.trim() !== '' && { title: tidy(title).slice(0, MAX_HEADING) }),
      blocks: this.all,
      notes: all,
    };
  }
}

const MAX_HEADING = 300;
export const tableLine = (row: readonly string[]): string => `| ${row.join(' | ')} |`;

const sizeOf = (rows: readonly string[][]): number =>
  rows.reduce((sum, row) => sum + row.reduce((width, cell) => width + cell.length + 3, 0), 0);

/** White space as people see it: lines stay, the rest is one space. */
const tidy = (text: string): string =>
  text
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
