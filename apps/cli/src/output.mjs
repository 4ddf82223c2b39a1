/** What is printed: for people, or as JSON for programs. */

/**
 * Names and answers come from others: what a terminal would take for commands is left out.
 * @param {unknown} value
 */
export const clean = (value) =>
  // oxlint-disable-next-line no-control-regex -- what steers a terminal is taken out
  String(value ?? '').replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '');

/**
 * The same text as JSON: what is written as it is in there is a command to some terminals, too.
 * @param {unknown} value
 */
const json = (value) =>
  JSON.stringify(value).replace(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * @typedef {object} Output
 * @property {boolean} json
 * @property {(text: string) => void} write As it is, for answers that come piece by piece.
 * @property {(text: string) => void} line
 * @property {(value: unknown, readable: () => void) => void} show The value as JSON, or what `readable` prints.
 * @property {(rows: readonly Record<string, unknown>[], columns: readonly string[]) => void} table
 */

/**
 * @param {{ write: (text: string) => unknown }} stdout
 * @param {boolean} isJson
 * @returns {Output}
 */
export function createOutput(stdout, isJson) {
  /** @param {string} text */
  const line = (text) => void stdout.write(`${clean(text)}\n`);
  return {
    json: isJson,
    line,
    write: (text) => void stdout.write(clean(text)),
    show(value, readable) {
      if (isJson) stdout.write(`${json(value)}\n`);
      else readable();
    },
    table(rows, columns) {
      const cells = [
        columns.map((name) => name.toUpperCase()),
        ...rows.map((row) => columns.map((name) => clean(row[name]).replaceAll(/[\n\t]/g, ' '))),
      ];
      const widths = columns.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
      for (const row of cells)
        line(
          row
            .map((cell, at) => cell.padEnd(widths[at] ?? 0))
            .join('  ')
            .trimEnd(),
        );
    },
  };
}
