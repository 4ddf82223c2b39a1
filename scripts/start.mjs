import module from 'node:module';
import path from 'node:path';
import { ROOT } from './lib/run.mjs';

/**
 * Runs what prepare.mjs put together: the platform, for start.sh, or by name one service of it, or what sets a database up
 * for them. Keeps it compiled: a later start need not do that again.
 */
const SERVICES = ['platform', 'web', 'backend', 'summarizer', 'setup'];
const [, , given] = process.argv;
const name = given === undefined || given.startsWith('--') ? 'platform' : given;
if (!SERVICES.includes(name)) {
  console.error(`There is no service ${name}: it is one of ${SERVICES.join(', ')}.`);
  process.exit(1);
}
module.enableCompileCache(path.join(ROOT, '.runtime/cache'));
await import(new URL(`../.runtime/program/${name}.js`, import.meta.url).href);
