import { attribute, decoded, tokensOf } from './markup.ts';

/** What the cells of a sheet show: texts, numbers, and days where the format says that a number is one. */

const DAY_MS = 86_400_000;
/** Day 0 of the sheets' calendar, with the day that never was (29 February 1900) behind us. */
const DAY_ZERO = Date.UTC(1899, 11, 30);
const MAX_COLUMNS = 1000;
/** Places without a cell that are kept for those to their right, of a document. */
const MAX_BLANKS = 500_000;

const isDateFormat = (code: string): boolean => /[dy]/i.test(code.replaceAll(/"[^"]*"|\[[^\]]*\]|\\./g, ''));

/** By the number of a cell's style, whether it is a day. */
export function dateFormats(styles: string): boolean[] {
  const own = new Map<number, boolean>();
  const formats: boolean[] = [];
  let inCells = false;
  for (const token of tokensOf(styles)) {
    if (token.kind === 'text') continue;
    if (token.name === 'numfmt' && token.kind === 'open')
      own.set(
        Number(attribute(token.attributes, 'numfmtid')),
        isDateFormat(attribute(token.attributes, 'formatcode') ?? ''),
      );
    if (token.name === 'cellxfs') inCells = token.kind === 'open';
    if (token.name === 'xf' && token.kind === 'open' && inCells) {
      const id = Number(attribute(token.attributes, 'numfmtid') ?? 0);
      formats.push(own.get(id) ?? ((id >= 14 && id <= 17) || id === 22));
    }
  }
  return formats;
}

function columnOf(place: string): number {
  let column = 0;
  for (const letter of /^[A-Z]{1,3}/.exec(place)?.[0] ?? '') column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

interface Cell {
  type: string;
  style: number;
  value: string;
}

export function cellReader(shared: readonly string[], isDate: readonly boolean[]) {
  let blanks = MAX_BLANKS;
  function shown({ type, style, value }: Cell): string {
    if (type === 's') return shared[Number(value)] ?? '';
    if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
    const number = Number(value);
    if (type === '' && isDate[style] && value !== '' && number > 0 && number < 2_958_466)
      return new Date(DAY_ZERO + number * DAY_MS).toISOString().slice(0, 10);
    return value;
  }

  return function rowsOf(sheet: string, most: number): string[][] {
    const rows: string[][] = [];
    let [cell, column, inValue, cells]: [Cell | undefined, number, boolean, number] = [undefined, 0, false, 0];
    for (const token of tokensOf(sheet)) {
      if (token.kind === 'text') {
        if (inValue && cell) cell.value += decoded(token.text);
      } else if (token.name === 'row' && token.kind === 'open') rows.push([]);
      else if (token.name === 'c' && token.kind === 'open') {
        const { attributes } = token;
        if ((cells += 1) > most) break;
        cell = { type: attribute(attributes, 't') ?? '', style: Number(attribute(attributes, 's') ?? 0), value: '' };
        const at = columnOf(attribute(attributes, 'r') ?? '');
        column = at >= 0 ? at : (rows.at(-1)?.length ?? 0);
        if (token.empty) cell = undefined;
      } else if (token.name === 'v' || token.name === 't') inValue = token.kind === 'open' && !token.empty;
      else if (token.name === 'c' && cell) {
        const row = rows.at(-1) ?? [];
        blanks -= column < MAX_COLUMNS ? Math.max(0, column - row.length) : 0;
        if (blanks < 0) break;
        put(row, column, shown(cell));
        cell = undefined;
      }
    }
    return rows;
  };
}

/** Cells that stand far to the right of the others stay out. */
function put(row: string[], column: number, value: string): void {
  if (column >= MAX_COLUMNS) return;
  while (row.length < column) row.push('');
  row[column] = value.trim();
}
