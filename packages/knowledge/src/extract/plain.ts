import { Blocks, MAX_CELLS, type Reading } from './blocks.ts';

/** Text: paragraphs are what an empty line separates. */
export function readText(text: string): Reading {
  const blocks = new Blocks();
  for (const part of text.replaceAll('\r\n', '\n').split(/\n[^\S\n]*\n/)) blocks.text(part);
  return blocks.done();
}

const TABLE_LINE = /^\s*\|.*\|\s*$/;
const RULE_LINE = /^[\s|:-]+$/;
const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replaceAll(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim());

/** Markdown: headings by `#` or underlined, tables, code and paragraphs; what stands in a fence is no heading. */
export function readMarkdown(text: string): Reading {
  const blocks = new Blocks();
  let [paragraph, table, fence]: [string[], string[][], string] = [[], [], ''];
  const flush = (): void => {
    if (table.length > 0) blocks.add({ kind: 'table', rows: table, head: true });
    blocks.text(paragraph.join('\n'));
    [paragraph, table] = [[], []];
  };
  for (const line of withoutFront(text.replaceAll('\r\n', '\n')).split('\n')) {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined && (fence === '' || mark.startsWith(fence))) fence = fence === '' ? mark : '';
    const heading = fence === '' ? /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/.exec(line) : null;
    const under = fence === '' && paragraph.length === 1 ? /^(=+|-{2,})\s*$/.exec(line) : null;
    if (heading) {
      flush();
      blocks.heading(heading[1]!.length, heading[2]!);
    } else if (under) {
      const [said = ''] = paragraph;
      paragraph = [];
      blocks.heading(under[1]!.startsWith('=') ? 1 : 2, said);
    } else if (fence === '' && TABLE_LINE.test(line)) {
      if (paragraph.length > 0) flush();
      if (!RULE_LINE.test(line)) table.push(cellsOf(line));
    } else if (line.trim() === '' && fence === '') flush();
    else {
      if (table.length > 0) flush();
      paragraph.push(line);
    }
  }
  flush();
  return blocks.done();
}

const withoutFront = (text: string): string =>
  text.startsWith('---\n') ? text.replace(/^---\n[\s\S]{0,20000}?\n---\n/, '') : text;

/** Rows of a table of values; the first is its head. Cells may be quoted, with line ends and quotes in them. */
export function readCsv(text: string): Reading {
  const blocks = new Blocks();
  const [first = ''] = text.split('\n', 1);
  const separator = [',', ';', '\t', '|'].reduce((best, one) =>
    first.split(one).length > first.split(best).length ? one : best,
  );
  const rows: string[][] = [];
  let [row, cell, isQuoted, cells]: [string[], string, boolean, number] = [[], '', false, 0];
  const endCell = (): void => {
    row.push(cell.trim());
    cell = '';
    cells += 1;
  };
  for (let at = 0; at < text.length; at += 1) {
    if (cells >= MAX_CELLS) break;
    const char = text[at]!;
    if (isQuoted) {
      if (char !== '"') cell += char;
      else if (text[at + 1] === '"') cell += text[(at += 1)];
      else isQuoted = false;
    } else if (char === '"' && cell.trim() === '') isQuoted = true;
    else if (char === separator) endCell();
    else if (char === '\n') {
      endCell();
      rows.push(row);
      row = [];
    } else cell += char;
  }
  if (cell !== '' || row.length > 0) {
    endCell();
    rows.push(row);
  }
  const kept = rows.filter((one) => one.some((value) => value !== ''));
  if (kept.length > 0) blocks.add({ kind: 'table', rows: kept, head: true });
  return blocks.done(undefined, cells >= MAX_CELLS ? [tooManyCells()] : []);
}

export const tooManyCells = (): string => `Only the first ${MAX_CELLS.toLocaleString('en')} cells were read.`;
