export { createWeb, type Web, type WebDeps } from './app.ts';
