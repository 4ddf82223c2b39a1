import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readSources } from '@troupe/testing/sources/sources';
import { withLines } from './lib/code-links.ts';
import { withDrawings } from './lib/drawings.ts';
import { ROOT } from './lib/run.mjs';

/** `npm run docs:code`: the drawings of docs/architecture.md and the lines of docs/tour.md, from the code as it is. */
function rewrite(page: string, change: (text: string) => string): void {
  const file = path.join(ROOT, 'docs', page);
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}
rewrite('architecture.md', (text) => withDrawings(text, readSources(ROOT)));
rewrite('tour.md', (text) => withLines(text, ROOT));
