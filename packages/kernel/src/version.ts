import { readFileSync } from 'node:fs';

/** The product's version, from the root package. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;
