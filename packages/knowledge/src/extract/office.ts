import { ArchiveError, entriesOf, type Entry } from '@troupe/kernel/archive';
import { Blocks, MAX_CELLS, Unreadable, type DocumentKind, type Reading } from './blocks.ts';
import { attribute, decoded, tokensOf } from './markup.ts';
import { tooManyCells } from './plain.ts';
import { cellReader, dateFormats } from './sheet-values.ts';

/** Documents that are zips of XML: text, sheets and slides of office programs. */

const MB = 1024 * 1024;
/** Of one part, unpacked, and of all that are read. */
const MAX_PART = 48 * MB;
const MAX_ALL = 96 * MB;
const MAX_SLIDES = 2000;
const MAX_SHEETS = 200;

export type Parts = (path: string) => string | undefined;

/** Undefined: a zip that is none of them. */
export function officeKind(bytes: Buffer): { kind: DocumentKind; parts: Parts; names: string[] } | undefined {
  const entries = archive(() => entriesOf(bytes)) ?? [];
  const byName = new Map(entries.map((entry) => [entry.path, entry]));
  const kind: DocumentKind | undefined = byName.has('word/document.xml')
    ? 'docx'
    : byName.has('xl/workbook.xml')
      ? 'xlsx'
      : byName.has('ppt/presentation.xml')
        ? 'pptx'
        : undefined;
  return kind && { kind, parts: partsOf(byName), names: [...byName.keys()] };
}

function partsOf(byName: ReadonlyMap<string, Entry>): Parts {
  let room = MAX_ALL;
  return (path) => {
    const entry = byName.get(path);
    if (!entry) return undefined;
    const bytes = archive(() => entry.read(Math.min(MAX_PART, room)));
    room -= bytes.length;
    return bytes.toString('utf8');
  };
}

function archive<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ArchiveError)
      throw new Unreadable(`The file cannot be unpacked: ${error.message}.`, { cause: error });
    throw error;
  }
}

const HEADING = /^(?:heading|title|subtitle|überschrift|berschrift|titel|titre|titolo|título)\s?(\d)?/i;

/** The state of a text document while it is walked through. */
class Written {
  readonly blocks = new Blocks();
  #said = '';
  #level = 0;
  readonly #tables: string[][][] = [];

  say(text: string): void {
    this.#said += text;
  }
  style(name: string): void {
    const found = HEADING.exec(name);
    if (found) this.#level = found[1] === undefined ? 1 : Number(found[1]);
  }
  outline(level: number): void {
    if (level >= 0 && level < 9) this.#level = level + 1;
  }
  endParagraph(): void {
    const row = this.#tables.at(-1)?.at(-1);
    if (row && row.length > 0) row[row.length - 1] = `${row.at(-1)} ${this.#said}`.trim();
    else if (this.#level > 0) this.blocks.heading(this.#level, this.#said);
    else this.blocks.text(this.#said);
    this.#said = '';
    this.#level = 0;
  }
  open(name: string): void {
    if (name === 'w:tbl') this.#tables.push([]);
    if (name === 'w:tr') this.#tables.at(-1)?.push([]);
    if (name === 'w:tc') this.#tables.at(-1)?.at(-1)?.push('');
  }
  endTable(): void {
    const rows = this.#tables.pop()?.filter((row) => row.some(Boolean)) ?? [];
    if (rows.length > 0) this.blocks.add({ kind: 'table', rows, head: rows.length > 1 });
  }
}

export function readDocx(parts: Parts): Reading {
  const written = new Written();
  let inText = false;
  for (const token of tokensOf(parts('word/document.xml') ?? '')) {
    if (token.kind === 'text') {
      if (inText) written.say(decoded(token.text));
      continue;
    }
    const { name, attributes } = token;
    if (name === 'w:t') inText = token.kind === 'open' && !token.empty;
    else if (token.kind === 'open') {
      if (name === 'w:tab') written.say('\t');
      else if (name === 'w:br' || name === 'w:cr') written.say('\n');
      else if (name === 'w:pstyle') written.style(attribute(attributes, 'w:val') ?? '');
      else if (name === 'w:outlinelvl') written.outline(Number(attribute(attributes, 'w:val') ?? -1));
      else if (name === 'w:p' && token.empty) continue;
      else written.open(name);
    } else if (name === 'w:p') written.endParagraph();
    else if (name === 'w:tbl') written.endTable();
  }
  return written.blocks.done();
}

/** The slides in their order, each under its title. */
export function readPptx(parts: Parts, names: readonly string[]): Reading {
  const blocks = new Blocks();
  const slides = slidesOf(parts, names);
  for (const [index, path] of slides.slice(0, MAX_SLIDES).entries()) {
    blocks.add({ kind: 'place', place: `Slide ${index + 1}` });
    slide(parts(path) ?? '', blocks);
  }
  return blocks.done(undefined, slides.length > MAX_SLIDES ? [`Only the first ${MAX_SLIDES} slides were read.`] : []);
}

/** As they are shown; one that says nothing of that has them by the numbers of their files. */
function slidesOf(parts: Parts, names: readonly string[]): string[] {
  const known = new Set(names);
  const targets = targetsOf(parts, 'ppt/_rels/presentation.xml.rels', 'ppt');
  const listed = new Set<string>();
  for (const token of tokensOf(parts('ppt/presentation.xml') ?? '')) {
    if (token.kind !== 'open' || token.name !== 'p:sldid') continue;
    const path = targets.get(attribute(token.attributes, 'r:id') ?? '');
    if (path !== undefined && known.has(path)) listed.add(path);
  }
  if (listed.size > 0) return [...listed];
  const number = (path: string): number => Number(/(\d+)\.xml$/.exec(path)![1]);
  return names.filter((name) => /^ppt\/slides\/slide\d+\.xml$/.test(name)).toSorted((a, b) => number(a) - number(b));
}

/** Which parts a part refers to, by the names that it gives them. */
function targetsOf(parts: Parts, path: string, folder: string): Map<string, string> {
  const targets = new Map<string, string>();
  for (const token of tokensOf(parts(path) ?? '')) {
    if (token.kind !== 'open' || token.name !== 'relationship') continue;
    const target = attribute(token.attributes, 'target') ?? '';
    targets.set(
      attribute(token.attributes, 'id') ?? '',
      target.startsWith('/') ? target.slice(1) : `${folder}/${target}`,
    );
  }
  return targets;
}

function slide(xml: string, blocks: Blocks): void {
  let [said, inText, isTitle]: [string[], boolean, boolean] = [[''], false, false];
  for (const token of tokensOf(xml)) {
    if (token.kind === 'text') {
      if (inText) said[said.length - 1] += decoded(token.text);
    } else if (token.name === 'a:t') inText = token.kind === 'open' && !token.empty;
    else if (token.name === 'p:ph' && token.kind === 'open')
      isTitle = /title$/i.test(attribute(token.attributes, 'type') ?? '');
    else if (token.name === 'a:br') said.push('');
    else if (token.name === 'a:p' && token.kind === 'close') said.push('');
    else if (token.name === 'p:sp' || token.name === 'a:tc') {
      if (token.kind === 'close') {
        const text = said.join('\n');
        if (isTitle) blocks.heading(1, text);
        else blocks.text(text);
      }
      [said, isTitle] = [[''], false];
    }
  }
}

export function readXlsx(parts: Parts): Reading {
  const blocks = new Blocks();
  const read = cellReader(sharedStrings(parts), dateFormats(parts('xl/styles.xml') ?? ''));
  let room = MAX_CELLS;
  const sheets = sheetsOf(parts);
  for (const { name, path } of sheets.slice(0, MAX_SHEETS)) {
    if (room <= 0) break;
    const rows = read(parts(path) ?? '', room);
    room -= rows.reduce((sum, row) => sum + row.length, 0);
    const kept = rows.filter((row) => row.some(Boolean));
    if (kept.length === 0) continue;
    blocks.add({ kind: 'place', place: `Sheet ${name}` });
    blocks.heading(1, name);
    blocks.add({ kind: 'table', rows: kept, head: kept.length > 1 });
  }
  return blocks.done(undefined, room <= 0 ? [tooManyCells()] : []);
}

/** Texts that cells refer to by number. */
function sharedStrings(parts: Parts): string[] {
  const texts: string[] = [];
  let [said, inText, phonetic]: [string, boolean, boolean] = ['', false, false];
  for (const token of tokensOf(parts('xl/sharedStrings.xml') ?? '')) {
    if (token.kind === 'text') {
      if (inText && !phonetic) said += decoded(token.text);
    } else if (token.name === 't') inText = token.kind === 'open' && !token.empty;
    else if (token.name === 'rph') phonetic = token.kind === 'open';
    else if (token.name === 'si') {
      if (token.kind === 'close' || token.empty) texts.push(said);
      said = '';
    }
  }
  return texts;
}

function sheetsOf(parts: Parts): { name: string; path: string }[] {
  const targets = targetsOf(parts, 'xl/_rels/workbook.xml.rels', 'xl');
  const sheets: { name: string; path: string }[] = [];
  for (const token of tokensOf(parts('xl/workbook.xml') ?? '')) {
    if (token.kind !== 'open' || token.name !== 'sheet') continue;
    const path =
      targets.get(attribute(token.attributes, 'r:id') ?? '') ?? `xl/worksheets/sheet${sheets.length + 1}.xml`;
    sheets.push({ name: attribute(token.attributes, 'name') ?? `${sheets.length + 1}`, path });
  }
  return sheets;
}
