export { createWeb, type Web } from './app.ts';
export type { WebDeps } from './deps.ts';
