/** Rows of a table as text: fields may be quoted, and quoted ones may hold anything. */

const MOST_ROWS = 1000;
const MOST_COLUMNS = 60;

export function readCsv(text: string, separator: string): { rows: string[][]; cut: boolean } {
  const rows: string[][] = [];
  let row: string[] = [];
  let field = '';
  let isQuoted = false;
  const endField = () => {
    if (row.length < MOST_COLUMNS) row.push(field);
    field = '';
  };
  const endRow = () => {
    endField();
    if (row.length > 1 || row[0] !== '') rows.push(row);
    row = [];
  };
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!;
    if (isQuoted) {
      if (char !== '"') field += char;
      else if (text[at + 1] === '"') {
        field += '"';
        at += 1;
      } else isQuoted = false;
    } else if (char === '"' && field === '') isQuoted = true;
    else if (char === separator) endField();
    else if (char === '\n') {
      endRow();
      if (rows.length > MOST_ROWS) return { rows: rows.slice(0, MOST_ROWS), cut: true };
    } else if (char !== '\r') field += char;
  }
  if (field !== '' || row.length > 0) endRow();
  return { rows, cut: false };
}
