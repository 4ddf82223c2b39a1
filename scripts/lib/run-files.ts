import { run } from 'node:test';
import report from './reporter.ts';

/**
 * Runs test files in the order in which they are named, which `node --test` would not keep.
 * Arguments: how many at once, milliseconds for one test, the files.
 */
const [atOnce = '', timeout = '', ...files] = process.argv.slice(2);
const events = run({ files, concurrency: Number(atOnce), timeout: Number(timeout) });
events.on('test:fail', ({ todo, skip }) => {
  if (todo === undefined && skip === undefined) process.exitCode = 1;
});
events.compose(report).pipe(process.stdout);
