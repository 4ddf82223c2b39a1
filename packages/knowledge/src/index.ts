export { extract } from './extract/extract.ts';
export type { Extracted } from './extract/extract.task.ts';
export { DOCUMENT_KINDS, type DocumentKind } from './extract/blocks.ts';
export { createPassageSearch, readPassage, type Hit, type PassageSearch } from './index/search.ts';
export { addPassages, holdCollection, removePassages } from './index/store.ts';
export { askedFor, termsOf } from './words/terms.ts';
export { createBest } from './index/best.ts';
export { BLOCK, BlockScores, countOf, entryOf, weightOf, without } from './index/postings.ts';
