import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readSources } from '@troupe/testing/sources/sources';
import { withLines } from './lib/code-links.ts';
import { withDrawings } from './lib/drawings.ts';
import { withFigures } from './lib/house-figures.ts';
import { ROOT } from './lib/run.mjs';

/** `npm run docs:code`: the drawings and figures of docs/architecture.md and the lines of docs/tour.md, from the code as it is. */
function rewrite(page: string, change: (text: string) => string): void {
  const file = path.join(ROOT, 'docs', page);
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}
const sources = readSources(ROOT);
rewrite('architecture.md', (text) => withFigures(withDrawings(text, sources), sources));
rewrite('tour.md', (text) => withLines(text, ROOT));
