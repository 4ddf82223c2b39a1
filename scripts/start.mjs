import module from 'node:module';
import path from 'node:path';
import { ROOT } from './lib/run.mjs';

/** The platform itself, started by start.sh. Keeps the code without its types and compiled: a later start need not do either again. */
module.enableCompileCache(path.join(ROOT, '.runtime/cache'));
await import(new URL('../apps/platform/src/main.ts', import.meta.url).href);
