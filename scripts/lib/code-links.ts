import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Links of a page in docs to lines of code: the text of the link is a piece of that line. */
const LINK = /\[`([^`]+)`\]\(\.\.\/([^)#]+)#L\d+\)/g;

/** The page with the lines as they are now. */
export function withLines(page: string, root: string): string {
  return page.replace(LINK, (_, text: string, file: string) => {
    const lines = readFileSync(path.join(root, file), 'utf8').split('\n');
    const at = lines.findIndex((line) => line.includes(text));
    if (at === -1) throw new Error(`${file} has no line with ${text}`);
    return `[\`${text}\`](../${file}#L${at + 1})`;
  });
}
