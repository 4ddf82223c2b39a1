import module from 'node:module';
import path from 'node:path';
import { ROOT } from './lib/run.mjs';

/** The platform as prepare.mjs put it together, for start.sh. Keeps it compiled: a later start need not do that again. */
module.enableCompileCache(path.join(ROOT, '.runtime/cache'));
await import(new URL('../.runtime/program/main.js', import.meta.url).href);
