import { readFileSync, writeFileSync } from 'node:fs';
import { readSources } from '../tests/lib/architecture.ts';
import { ROOT } from './lib/run.mjs';
import { withDrawings } from './lib/drawings.ts';

/** `npm run docs:drawings`: draws docs/architecture.md from the imports of the code. */
const page = new URL('../docs/architecture.md', import.meta.url);
writeFileSync(page, withDrawings(readFileSync(page, 'utf8'), readSources(ROOT)));
