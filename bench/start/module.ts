import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Loads one module after those that it needs, and prints what that took: `[megabytes of heap, milliseconds]`. */

const [module = '', ...before] = process.argv.slice(2);
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const heap = (): number => {
  collect();
  return process.memoryUsage().heapUsed / 1024 / 1024;
};

for (const one of before) await import(one);
const empty = heap();
const began = performance.now();
await import(module);
const ms = performance.now() - began;
console.log(JSON.stringify([heap() - empty, ms]));
