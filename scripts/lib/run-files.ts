import { run } from 'node:test';
import report from './reporter.ts';
import { inTurn, type TestEvent } from './test-runs.ts';

/**
 * Runs test files in the order in which they are named, which `node --test` would not keep, and those after `--alone`
 * one by one when all others have ended; one report for all.
 * Arguments: how many at once, milliseconds for one test, the files.
 */
const [atOnce = '', limit = '', ...named] = process.argv.slice(2);
const timeout = Number(limit);
const at = named.includes('--alone') ? named.indexOf('--alone') : named.length;
const runs = [
  { files: named.slice(0, at), concurrency: Number(atOnce), timeout },
  { files: named.slice(at + 1), concurrency: 1, timeout },
].filter(({ files }) => files.length > 0);

async function* events(): AsyncGenerator<TestEvent> {
  for await (const event of inTurn(runs.map((options) => () => run(options) as AsyncIterable<TestEvent>))) {
    if (event.type === 'test:fail' && event.data.todo === undefined && event.data.skip === undefined)
      process.exitCode = 1;
    yield event;
  }
}

for await (const text of report(events())) process.stdout.write(text);
