/**
 * A spreadsheet takes what begins so for a formula, and runs it. Where people write a comma in numbers it separates by something else,
 * and then also what stands behind that is a cell: only a quote at the beginning of one counts. A RegExp and PostgreSQL
 * read it alike.
 */
const BEGINS = /(^|[;|\t\r\n])(?=\s*[=+@＝＋＠－-])/g;
export const FORMULA = BEGINS.source;

/** A text as a cell that is nothing but text, on one line: then it takes time by its length alone. */
export const csvCell = (text: string): string =>
  `"${text.replaceAll(/\s+/g, ' ').trim().replaceAll(BEGINS, "$1'").replaceAll('"', '""')}"`;

export const csvOf = (rows: readonly (readonly string[])[]): string =>
  rows.map((cells) => cells.map(csvCell).join(',')).join('\r\n');
