import {
  closingTicks,
  isSpace,
  markdownSpans,
  MOST_PARTS,
  runAt,
  spanWords,
  type MarkdownSpan,
} from './markdown-spans.ts';

/**
 * Reads what models write. An answer is a stranger's text: every line and every character is looked at a bounded number
 * of times, whatever it says, and what is beyond all reason is shown as it is.
 */

export type MarkdownBlock =
  | { kind: 'heading' | 'paragraph'; spans: MarkdownSpan[] }
  | { kind: 'quote'; blocks: MarkdownBlock[] }
  | { kind: 'rule' }
  | { kind: 'plain'; text: string }
  /** `language` as it was named; it may be anything. */
  | { kind: 'code'; text: string; language: string }
  | MarkdownList
  | MarkdownTable;

export type MarkdownAlign = 'left' | 'center' | 'right' | undefined;

export interface MarkdownTable {
  kind: 'table';
  head: MarkdownSpan[][];
  rows: MarkdownSpan[][][];
  align: MarkdownAlign[];
}

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
  /** What is set in below it: lists, code, paragraphs. */
  blocks: MarkdownBlock[];
}

/** Beyond this much text the rest is plain. */
const MOST_TEXT = 200_000;
/** Lists in lists and quotes in quotes, so deep: a line is read once for each. */
const MOST_DEPTH = 8;
/** Set in by so much, a line belongs to the item above it. */
const SET_IN = 2;
const TAB = 4;

interface Reading {
  lines: string[];
  at: number;
  depth: number;
  /** Parts that may still be made. */
  budget: { left: number };
  /** By line: how long the longest end of code is from there on. Made when it is first asked for. */
  ends?: number[];
}

export function scanMarkdown(text: string): MarkdownBlock[] {
  const cut = text.length > MOST_TEXT ? text.lastIndexOf('\n', MOST_TEXT) : text.length;
  const kept = cut > 0 ? cut : MOST_TEXT;
  const lines = text.slice(0, kept).replaceAll('\r\n', '\n').split('\n');
  return blocksOf({ lines, at: 0, depth: 0, budget: { left: MOST_PARTS } }, text.slice(kept));
}

/** `more`: text that is not looked at. */
function blocksOf(reading: Reading, more = ''): MarkdownBlock[] {
  const { lines, budget } = reading;
  const found: MarkdownBlock[] = [];
  while (reading.at < lines.length && budget.left > 0) {
    if (blank(lines[reading.at]!)) reading.at += 1;
    else {
      found.push(block(reading));
      budget.left -= 1;
    }
  }
  const rest = [lines.slice(reading.at).join('\n'), more].filter((part) => !blank(part)).join('');
  return rest === '' ? found : [...found, { kind: 'plain', text: rest }];
}

/** The blocks of lines that are set in, or quoted. */
const within = ({ depth, budget }: Reading, lines: string[]): MarkdownBlock[] =>
  blocksOf({ lines, at: 0, depth: depth + 1, budget });

function block(reading: Reading): MarkdownBlock {
  const { lines, at, depth, budget } = reading;
  const line = lines[at]!;
  if (fenceOf(line) > 0) return fence(reading);
  const heading = headingOf(line);
  if (heading !== undefined || isLine(line)) {
    reading.at += 1;
    return heading === undefined ? { kind: 'rule' } : { kind: 'heading', spans: markdownSpans(heading, budget) };
  }
  if (isRow(line) && isRule(lines[at + 1] ?? '')) return table(reading);
  if (depth < MOST_DEPTH && itemOf(line) !== undefined) return list(reading);
  if (depth < MOST_DEPTH && quotedOf(line) !== undefined) return quote(reading);
  let next = at + 1;
  while (next < lines.length && !blank(lines[next]!) && !starts(lines[next]!)) next += 1;
  reading.at = next;
  const kept = lines.slice(at, next);
  return {
    kind: 'paragraph',
    spans: markdownSpans((depth > 0 ? kept.map((one) => one.trim()) : kept).join('\n'), budget),
  };
}

const blank = (line: string): boolean => line.trim() === '';

/** Where the first character that is no space is. */
function indentOf(line: string): number {
  let at = 0;
  while (at < line.length && isSpace(line[at])) at += 1;
  return at;
}

const widthOf = (line: string, at: number): number => (line[at] === '\t' ? TAB : 1);

/** How far a line is set in. */
function setIn(line: string): number {
  let width = 0;
  for (let at = 0; at < line.length && isSpace(line[at]); at += 1) width += widthOf(line, at);
  return width;
}

/** Without so much of what it is set in by. */
function moved(line: string, by: number): string {
  let at = 0;
  for (let width = 0; at < line.length && isSpace(line[at]) && width < by; at += 1) width += widthOf(line, at);
  return line.slice(at);
}

/** What follows a mark that ends at `at`, if a space comes between. */
const after = (line: string, at: number): string | undefined =>
  isSpace(line[at]) ? line.slice(at).trimStart() : undefined;

/** With how many ticks code begins here; 0: it does not. */
function fenceOf(line: string): number {
  const from = indentOf(line);
  if (!line.startsWith('```', from)) return 0;
  const ticks = runAt(line, from);
  return line.includes('`', from + ticks) ? 0 : ticks;
}

/** With how many ticks code may end here. */
function fenceEndOf(line: string): number {
  const text = line.trim();
  return text.startsWith('```') && runAt(text, 0) === text.length ? text.length : 0;
}

function headingOf(line: string): string | undefined {
  let marks = 0;
  while (line[marks] === '#') marks += 1;
  return marks >= 1 && marks <= 6 ? after(line, marks) : undefined;
}

/** A line across: three dashes, stars or bars, and nothing else. */
function isLine(line: string): boolean {
  const text = line.trim();
  if (text.length < 3 || !'-*_'.includes(text[0]!)) return false;
  let marks = 0;
  for (const char of text) {
    if (char === text[0]) marks += 1;
    else if (!isSpace(char)) return false;
  }
  return marks >= 3;
}

function bulletOf(line: string): string | undefined {
  const at = indentOf(line);
  return at < line.length && '-*+•'.includes(line[at]!) ? after(line, at + 1) : undefined;
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
  fenceOf(line) > 0 ||
  isLine(line) ||
  isRow(line) ||
  [headingOf, bulletOf, numberedOf, quotedOf].some((form) => form(line) !== undefined);

function fence(reading: Reading): MarkdownBlock {
  const { lines, at } = reading;
  const first = lines[at]!;
  const ticks = fenceOf(first);
  let end = at + 1;
  while (end < lines.length && fenceEndOf(lines[end]!) < ticks) end += 1;
  reading.at = end + 1;
  const by = setIn(first);
  const text = lines.slice(at + 1, end).map((line) => (by > 0 ? moved(line, by) : line));
  return { kind: 'code', text: text.join('\n'), language: first.trim().slice(ticks).trim().slice(0, 40) };
}

/** Whether code that begins with so many ticks ends somewhere from a line on. */
function endsFrom(reading: Reading, at: number, ticks: number): boolean {
  if (!reading.ends) {
    reading.ends = reading.lines.map(fenceEndOf);
    for (let line = reading.ends.length - 2; line >= 0; line -= 1)
      reading.ends[line] = Math.max(reading.ends[line]!, reading.ends[line + 1]!);
  }
  return (reading.ends[at] ?? 0) >= ticks;
}

interface ItemLine {
  ordered: boolean;
  start: number;
  text: string;
}

function itemOf(line: string): ItemLine | undefined {
  if (isLine(line)) return undefined;
  const bullet = bulletOf(line);
  const text = bullet ?? numberedOf(line);
  if (text === undefined) return undefined;
  const ordered = bullet === undefined;
  return { ordered, start: ordered ? Number.parseInt(line.trimStart(), 10) : 1, text };
}

/** Whatever is set in further than an item belongs to it, and is read as a text of its own. */
function list(reading: Reading): MarkdownBlock {
  const { lines, budget } = reading;
  const { ordered, start } = itemOf(lines[reading.at]!)!;
  const base = setIn(lines[reading.at]!);
  const items: MarkdownItem[] = [];
  while (budget.left > 0) {
    // A gap between two items is none.
    const next = notBlank(lines, reading.at);
    const item = itemOf(lines[next] ?? '');
    if (!item || item.ordered !== ordered || setIn(lines[next]!) >= base + SET_IN) break;
    reading.at = next + 1;
    const below = linesBelow(reading, base);
    budget.left -= 1;
    items.push(itemFrom(reading, item.text, below));
  }
  return { kind: 'list', ordered, start, items };
}

function notBlank(lines: string[], from: number): number {
  let at = from;
  while (at < lines.length && blank(lines[at]!)) at += 1;
  return at;
}

/** The lines that belong to the item above them. */
function linesBelow(reading: Reading, base: number): string[] {
  const { lines } = reading;
  const from = reading.at;
  let end = from;
  for (;;) {
    const next = notBlank(lines, end);
    const line = lines[next];
    if (line === undefined || setIn(line) < base + SET_IN) break;
    end = next + 1;
    const ticks = fenceOf(line);
    // Code is often set in less than the item that it belongs to.
    if (ticks > 0 && endsFrom(reading, end, ticks)) {
      while (fenceEndOf(lines[end]!) < ticks) end += 1;
      end += 1;
    }
  }
  reading.at = end;
  return lines.slice(from, end);
}

function itemFrom(reading: Reading, first: string, below: string[]): MarkdownItem {
  const mark = /^\[([ xX])\]\s/.exec(first.slice(0, 4))?.[1];
  const by = setIn(below.find((line) => !blank(line)) ?? '');
  const text = mark === undefined ? first : first.slice(4);
  const blocks = within(reading, [text, ...below.map((line) => moved(line, by))]);
  const [head, ...rest] = blocks;
  const item: MarkdownItem = head?.kind === 'paragraph' ? { spans: head.spans, blocks: rest } : { spans: [], blocks };
  return mark === undefined ? item : { ...item, checked: mark !== ' ' };
}

function alignOf(cell: string): MarkdownAlign {
  const rule = cell.trim();
  if (rule.endsWith(':')) return rule.startsWith(':') ? 'center' : 'right';
  return rule.startsWith(':') ? 'left' : undefined;
}

/** Cells between bars; one in code, or behind a backslash, is none. */
function cellsOf(line: string, most: number): string[] {
  const text = line.trim().slice(1, -1);
  const ticks = { text, absent: [] };
  const found: string[] = [];
  let from = 0;
  let at = 0;
  while (at < text.length && found.length < most - 1) {
    if (text[at] === '|') {
      found.push(text.slice(from, at));
      from = at + 1;
    }
    const run = text[at] === '`' ? runAt(text, at) : 0;
    const end = run > 0 ? closingTicks(ticks, at + run, run) : -1;
    at = end >= 0 ? end + run : at + (text[at] === '\\' ? 2 : Math.max(1, run));
  }
  return [...found, text.slice(from)].slice(0, most).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function table(reading: Reading): MarkdownBlock {
  const { lines, at, budget } = reading;
  const cells = (line: string): MarkdownSpan[][] => {
    const found = cellsOf(line, Math.max(1, budget.left));
    budget.left -= found.length;
    return found.map((cell) => markdownSpans(cell, budget));
  };
  const head = cells(lines[at]!);
  const align = lines[at + 1]!.trim().replace(/^\|/, '').split('|', head.length).map(alignOf);
  const rows: MarkdownSpan[][][] = [];
  for (reading.at = at + 2; reading.at < lines.length && budget.left > 0; reading.at += 1) {
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
  return { kind: 'quote', blocks: within(reading, kept) };
}

const blockWords = (blocks: readonly MarkdownBlock[], gap: string): string =>
  blocks
    .map((part): string => {
      switch (part.kind) {
        case 'rule':
          return '';
        case 'code':
        case 'plain':
          return part.text;
        case 'quote':
          return blockWords(part.blocks, ' ');
        case 'list':
          return part.items
            .flatMap(({ spans, blocks }) => [spanWords(spans), blockWords(blocks, ' · ')])
            .filter(Boolean)
            .join(' · ');
        case 'table':
          return [part.head, ...part.rows].map((row) => row.map(spanWords).join(' ')).join(' · ');
        default:
          return spanWords(part.spans);
      }
    })
    .filter(Boolean)
    .join(gap);

/** The words alone, on one line: for lists and feeds, where a mark would stand for itself. */
export const plainMarkdown = (text: string, most = 2000): string =>
  blockWords(scanMarkdown(text.slice(0, most)), ' ')
    .replaceAll('\n', ' ')
    .trim();
