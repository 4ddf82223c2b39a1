export { createSummarizer, type SummarizerOptions } from './app.ts';
export { createExtract, type Extract } from './html/links.ts';
export { readPage } from './html/read.ts';
export { createSummary, type Summary } from './html/summary.ts';
export { createNextTurn } from './html/turns.ts';
