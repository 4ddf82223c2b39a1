/**
 * Reads what models write. An answer is a stranger's text: every line and every character is looked at a bounded number
 * of times, whatever it says, and what is beyond all reason is shown as it is.
 */

export type MarkdownSpan =
  | { kind: 'text' | 'code' | 'strong' | 'em' | 'del'; text: string }
  | { kind: 'link'; text: string; target: string };

export type MarkdownBlock =
  | { kind: 'heading' | 'paragraph' | 'quote'; spans: MarkdownSpan[] }
  | { kind: 'plain'; text: string }
  /** `language` as it was named; it may be anything. */
  | { kind: 'code'; text: string; language: string }
  | MarkdownList
  | { kind: 'table'; head: MarkdownSpan[][]; rows: MarkdownSpan[][][]; align: MarkdownAlign[] };

export type MarkdownAlign = 'left' | 'center' | 'right' | undefined;

export interface MarkdownList {
  kind: 'list';
  ordered: boolean;
  /** The number of the first item. */
  start: number;
  items: MarkdownItem[];
}

export interface MarkdownItem {
  spans: MarkdownSpan[];
  /** Of a task; undefined: it is none. */
  checked?: boolean;
  /** What is set in below it. */
  lists: MarkdownList[];
}

/** Beyond this much text, and this many parts, the rest is plain: a page holds only so many elements. */
const MOST_TEXT = 200_000;
const MOST_PARTS = 5000;
/** Lists in lists, so deep. */
const MOST_DEPTH = 8;

interface Reading {
  lines: string[];
  at: number;
  /** Parts that may still be made. */
  left: number;
}

export function scanMarkdown(text: string): MarkdownBlock[] {
  const cut = text.length > MOST_TEXT ? text.lastIndexOf('\n', MOST_TEXT) : text.length;
  const kept = cut > 0 ? cut : MOST_TEXT;
  const reading: Reading = { lines: text.slice(0, kept).replaceAll('\r\n', '\n').split('\n'), at: 0, left: MOST_PARTS };
  const found: MarkdownBlock[] = [];
  while (reading.at < reading.lines.length && reading.left > 0) {
    if (blank(reading.lines[reading.at]!)) reading.at += 1;
    else {
      found.push(block(reading));
      reading.left -= 1;
    }
  }
  const rest = [reading.lines.slice(reading.at).join('\n'), text.slice(kept)].filter((part) => !blank(part)).join('');
  return rest === '' ? found : [...found, { kind: 'plain', text: rest }];
}

function block(reading: Reading): MarkdownBlock {
  const { lines, at } = reading;
  const line = lines[at]!;
  if (isFence(line)) return fence(reading);
  const heading = headingOf(line);
  if (heading !== undefined) {
    reading.at += 1;
    return { kind: 'heading', spans: markdownSpans(heading, reading) };
  }
  if (isRow(line) && isRule(lines[at + 1] ?? '')) return table(reading);
  if (itemOf(line) !== undefined) return list(reading);
  if (quotedOf(line) !== undefined) return quote(reading);
  let next = at + 1;
  while (next < lines.length && !blank(lines[next]!) && !starts(lines[next]!)) next += 1;
  reading.at = next;
  return { kind: 'paragraph', spans: markdownSpans(lines.slice(at, next).join('\n'), reading) };
}

const isSpace = (char: string | undefined): boolean => char !== undefined && char.trim() === '';
const blank = (line: string): boolean => line.trim() === '';

/** Where the first character that is no space is. */
function indentOf(line: string): number {
  let at = 0;
  while (at < line.length && isSpace(line[at])) at += 1;
  return at;
}

/** What follows a mark that ends at `at`, if a space comes between. */
const after = (line: string, at: number): string | undefined =>
  isSpace(line[at]) ? line.slice(at).trimStart() : undefined;

const isFence = (line: string): boolean => line.trimStart().startsWith('```');

function headingOf(line: string): string | undefined {
  let marks = 0;
  while (line[marks] === '#') marks += 1;
  return marks >= 1 && marks <= 4 ? after(line, marks) : undefined;
}

function bulletOf(line: string): string | undefined {
  const at = indentOf(line);
  return at < line.length && '-*•'.includes(line[at]!) ? after(line, at + 1) : undefined;
}

function numberedOf(line: string): string | undefined {
  const from = indentOf(line);
  let at = from;
  while (at < line.length && at - from <= 3 && line[at]! >= '0' && line[at]! <= '9') at += 1;
  const digits = at - from;
  return digits >= 1 && digits <= 3 && (line[at] === '.' || line[at] === ')') ? after(line, at + 1) : undefined;
}

function quotedOf(line: string): string | undefined {
  const at = indentOf(line);
  if (line[at] !== '>') return undefined;
  return line.slice(isSpace(line[at + 1]) ? at + 2 : at + 1);
}

function isRow(line: string): boolean {
  const inner = line.trim();
  return inner.length >= 3 && inner.startsWith('|') && inner.endsWith('|');
}

/** The line below a table's head: nothing but dashes, bars, colons and spaces, with three dashes in a row. */
function isRule(line: string): boolean {
  if (!line.includes('---')) return false;
  for (const char of line) if (char !== '-' && char !== '|' && char !== ':' && !isSpace(char)) return false;
  return true;
}

const starts = (line: string): boolean =>
  isFence(line) || isRow(line) || [headingOf, bulletOf, numberedOf, quotedOf].some((form) => form(line) !== undefined);

function fence(reading: Reading): MarkdownBlock {
  const { lines, at } = reading;
  let end = at + 1;
  while (end < lines.length && !isFence(lines[end]!)) end += 1;
  reading.at = end + 1;
  const language = lines[at]!.trim().slice(3).trim().slice(0, 40);
  return { kind: 'code', text: lines.slice(at + 1, end).join('\n'), language };
}

interface ItemLine {
  indent: number;
  ordered: boolean;
  start: number;
  text: string;
}

function itemOf(line: string): ItemLine | undefined {
  const bullet = bulletOf(line);
  const text = bullet ?? numberedOf(line);
  if (text === undefined) return undefined;
  const ordered = bullet === undefined;
  return { indent: indentOf(line), ordered, start: ordered ? Number.parseInt(line.trimStart(), 10) : 1, text };
}

/** An item and its lines, as long as more may come. */
interface OpenItem {
  item: MarkdownItem;
  lines: string[];
}

/** A list that more items may follow in, and how far its items are set in. */
interface OpenList {
  indent: number;
  list: MarkdownList;
}

/** Lists in lists, line by line: whatever is set in further than the item above it belongs to that item. */
function list(reading: Reading): MarkdownBlock {
  const { lines } = reading;
  const all: OpenItem[] = [];
  const open: OpenList[] = [];
  for (; reading.at < lines.length && all.length < reading.left; reading.at += 1) {
    const line = lines[reading.at]!;
    const item = itemOf(line);
    if (item) {
      if (!place(item, open, all)) break;
    } else if (blank(line)) {
      // A gap between two items is none.
      if (itemOf(lines[reading.at + 1] ?? '') === undefined) break;
    } else if (indentOf(line) >= 2) all.at(-1)?.lines.push(line.trim());
    else break;
  }
  reading.left -= all.length;
  for (const one of all) finish(one, reading);
  return open[0]!.list;
}

/** Puts an item where it belongs. False: it begins another list. */
function place({ indent, ordered, start, text }: ItemLine, open: OpenList[], all: OpenItem[]): boolean {
  while (open.length > 1 && indent < open.at(-1)!.indent) open.pop();
  const top = open.at(-1);
  const isDeeper = top !== undefined && indent >= top.indent + 2 && open.length < MOST_DEPTH;
  if (top && !isDeeper && top.list.ordered !== ordered) {
    if (open.length === 1) return false;
    open.pop();
  }
  if (!top || isDeeper || open.at(-1) !== top) {
    const made: MarkdownList = { kind: 'list', ordered, start, items: [] };
    open.at(-1)?.list.items.at(-1)?.lists.push(made);
    open.push({ indent, list: made });
  }
  const item: MarkdownItem = { spans: [], lists: [] };
  open.at(-1)!.list.items.push(item);
  all.push({ item, lines: [text] });
  return true;
}

function finish({ item, lines }: OpenItem, reading: Reading): void {
  const text = lines.join('\n');
  const mark = /^\[([ xX])\]\s/.exec(text.slice(0, 4))?.[1];
  if (mark !== undefined) item.checked = mark !== ' ';
  item.spans = markdownSpans(mark === undefined ? text : text.slice(4), reading);
}

function alignOf(cell: string): MarkdownAlign {
  const rule = cell.trim();
  if (rule.endsWith(':')) return rule.startsWith(':') ? 'center' : 'right';
  return rule.startsWith(':') ? 'left' : undefined;
}

function table(reading: Reading): MarkdownBlock {
  const { lines, at } = reading;
  const cells = (line: string): MarkdownSpan[][] => {
    const found = line.trim().slice(1, -1).split('|', Math.max(1, reading.left));
    reading.left -= found.length;
    return found.map((cell) => markdownSpans(cell.trim(), reading));
  };
  const head = cells(lines[at]!);
  const align = lines[at + 1]!.trim().replace(/^\|/, '').split('|', head.length).map(alignOf);
  const rows: MarkdownSpan[][][] = [];
  for (reading.at = at + 2; reading.at < lines.length && reading.left > 0; reading.at += 1) {
    if (!isRow(lines[reading.at]!)) break;
    rows.push(cells(lines[reading.at]!));
  }
  return { kind: 'table', head, rows, align };
}

function quote(reading: Reading): MarkdownBlock {
  const kept: string[] = [];
  for (; reading.at < reading.lines.length; reading.at += 1) {
    const line = quotedOf(reading.lines[reading.at]!);
    if (line === undefined) break;
    kept.push(line);
  }
  return { kind: 'quote', spans: markdownSpans(kept.join('\n'), reading) };
}

/** Finds the next character of a kind. Asked from left to right it looks at each character once. */
function finder(text: string, wanted: (char: string) => boolean): (from: number) => number {
  let from = 0;
  let found = -1;
  return (start) => {
    if (start >= from && start <= found) return found;
    from = start;
    found = start;
    while (found < text.length && !wanted(text[found]!)) found += 1;
    return found;
  };
}

const URL_END = ' <>()';

interface Finders {
  line: (from: number) => number;
  code: (from: number) => number;
  star: (from: number) => number;
  wave: (from: number) => number;
  bar: (from: number) => number;
  bracket: (from: number) => number;
  target: (from: number) => number;
  bare: (from: number) => number;
}

const findersOf = (text: string): Finders => ({
  line: finder(text, (char) => char === '\n'),
  code: finder(text, (char) => char === '`'),
  star: finder(text, (char) => char === '*'),
  bar: finder(text, (char) => char === '_'),
  wave: finder(text, (char) => char === '~'),
  bracket: finder(text, (char) => char === ']'),
  target: finder(text, (char) => char === ')' || isSpace(char)),
  bare: finder(text, (char) => URL_END.includes(char) || isSpace(char)),
});

/** Emphasis, code and links; they end on the line on which they begin. */
export function markdownSpans(text: string, budget = { left: MOST_PARTS }): MarkdownSpan[] {
  const find = findersOf(text);
  const found: MarkdownSpan[] = [];
  let from = 0;
  let at = 0;
  while (at < text.length && budget.left > 0) {
    const taken = spanAt(text, at, find);
    if (taken === undefined) at += 1;
    else {
      if (at > from) found.push({ kind: 'text', text: text.slice(from, at) });
      found.push(taken.span);
      budget.left -= 1;
      from = at = taken.end;
    }
  }
  if (from < text.length) found.push({ kind: 'text', text: text.slice(from) });
  return found;
}

interface Taken {
  span: MarkdownSpan;
  end: number;
}

function spanAt(text: string, at: number, find: Finders): Taken | undefined {
  switch (text[at]) {
    case '`':
      return between(text, at, { open: 1, end: find.code(at + 1), kind: 'code', line: find.line });
    case '*':
      if (text[at + 1] === '*')
        return between(text, at, { open: 2, end: find.star(at + 2), kind: 'strong', line: find.line });
      if (isSpace(text[at + 1])) return undefined;
      return between(text, at, { open: 1, end: find.star(at + 1), kind: 'em', line: find.line });
    case '_':
      if (text[at + 1] !== '_') return undefined;
      return between(text, at, { open: 2, end: find.bar(at + 2), kind: 'strong', line: find.line });
    case '~':
      if (text[at + 1] !== '~') return undefined;
      return between(text, at, { open: 2, end: find.wave(at + 2), kind: 'del', line: find.line });
    case '[':
      return link(text, at, find);
    case 'h':
      return bareLink(text, at, find);
    default:
      return undefined;
  }
}

interface Mark {
  /** Length of the mark on either side. */
  open: number;
  end: number;
  kind: 'code' | 'strong' | 'em' | 'del';
  line: (from: number) => number;
}

function between(text: string, at: number, { open, end, kind, line }: Mark): Taken | undefined {
  const start = at + open;
  const closed = end < text.length && (open === 1 || text[end + 1] === text[end]);
  if (!closed || end === start || line(start) < end) return undefined;
  return { span: { kind, text: text.slice(start, end) }, end: end + open };
}

const schemeAt = (text: string, at: number): number =>
  text.startsWith('https://', at) ? 8 : text.startsWith('http://', at) ? 7 : 0;

function link(text: string, at: number, find: Finders): Taken | undefined {
  const close = find.bracket(at + 1);
  if (close >= text.length || close === at + 1 || find.line(at + 1) < close || text[close + 1] !== '(')
    return undefined;
  const start = close + 2;
  const scheme = schemeAt(text, start);
  if (scheme === 0) return undefined;
  const end = find.target(start);
  if (text[end] !== ')' || end === start + scheme) return undefined;
  return { span: { kind: 'link', text: text.slice(at + 1, close), target: text.slice(start, end) }, end: end + 1 };
}

function bareLink(text: string, at: number, find: Finders): Taken | undefined {
  const scheme = schemeAt(text, at);
  if (scheme === 0) return undefined;
  let end = find.bare(at);
  // What ends a sentence is not part of the address.
  while (end > at + scheme && '.,;:!?'.includes(text[end - 1]!)) end -= 1;
  if (end <= at + scheme + 1) return undefined;
  const target = text.slice(at, end);
  return { span: { kind: 'link', text: target, target }, end };
}

/** The words alone, on one line: for lists and feeds, where a mark would stand for itself. */
export function plainMarkdown(text: string, most = 2000): string {
  const words = (spans: MarkdownSpan[]): string => spans.map((span) => span.text).join('');
  const inList = ({ items }: MarkdownList): string =>
    items.map(({ spans, lists }) => [words(spans), ...lists.map(inList)].join(' · ')).join(' · ');
  const parts = scanMarkdown(text.slice(0, most)).map((part) => {
    if (part.kind === 'code' || part.kind === 'plain') return part.text;
    if (part.kind === 'list') return inList(part);
    if (part.kind === 'table') return [part.head, ...part.rows].map((row) => row.map(words).join(' ')).join(' · ');
    return words(part.spans);
  });
  return parts.join(' ').replaceAll('\n', ' ').trim();
}
