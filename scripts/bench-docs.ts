import { readFileSync, writeFileSync } from 'node:fs';
import { readResults } from '../bench/lib/results.ts';
import { withResults } from './lib/bench-page.ts';

/** `npm run docs:benchmarks`: the tables of docs/benchmarks.md from bench/results.json. */
const page = new URL('../docs/benchmarks.md', import.meta.url);
const readme = readFileSync(new URL('../bench/README.md', import.meta.url), 'utf8');
writeFileSync(page, withResults(readFileSync(page, 'utf8'), readResults(), readme));
