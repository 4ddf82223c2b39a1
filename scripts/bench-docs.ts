import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readResults } from '../bench/lib/results.ts';
import { withResults } from './lib/bench-page.ts';
import { withKept } from './lib/kept-figures.ts';

/** `npm run docs:benchmarks`: the tables of docs/benchmarks.md from bench/results.json, and what other pages say of it. */
const text = (file: URL): string => readFileSync(file, 'utf8');

const results = readResults();
const page = new URL('../docs/benchmarks.md', import.meta.url);
const readme = text(new URL('../bench/README.md', import.meta.url));
writeFileSync(page, withKept(withResults(text(page), results, readme), results));
for (const name of readdirSync(new URL('../docs/', import.meta.url))) {
  const other = new URL(`../docs/${name}`, import.meta.url);
  if (!name.endsWith('.md')) continue;
  const was = text(other);
  const now = withKept(was, results);
  if (now !== was) writeFileSync(other, now);
}
