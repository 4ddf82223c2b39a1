export { extract } from './extract/extract.ts';
export type { Extracted } from './extract/extract.task.ts';
export { DOCUMENT_KINDS, type DocumentKind } from './extract/blocks.ts';
export { readPassage, searchPassages, type Hit } from './index/search.ts';
export { addPassages, holdCollection, removePassages } from './index/store.ts';
export { askedFor, termsOf } from './words/terms.ts';
