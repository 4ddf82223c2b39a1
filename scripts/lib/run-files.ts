import { run } from 'node:test';
import report from './reporter.ts';
import { kindOf } from './test-groups.ts';
import { asOne, inLanes, type Job, type TestEvent } from './test-runs.ts';

/**
 * Runs test files in the order in which they are named, which `node --test` would not keep, and those after `--alone`
 * one by one when all others have ended; one report for all.
 * Arguments: how many at once, milliseconds for one test, the files.
 */
const [atOnce = '', limit = '', ...named] = process.argv.slice(2);
const timeout = Number(limit);
const at = named.includes('--alone') ? named.indexOf('--alone') : named.length;
const jobs = (files: readonly string[]): Job[] =>
  files.map((file) => ({
    file,
    kind: kindOf(file),
    begin: () => run({ files: [file], concurrency: 1, timeout }) as AsyncIterable<TestEvent>,
  }));

async function* events(): AsyncGenerator<TestEvent> {
  const runs = [inLanes(jobs(named.slice(0, at)), Number(atOnce)), inLanes(jobs(named.slice(at + 1)), 1)];
  for await (const event of asOne(runs)) {
    if (event.type === 'test:fail' && event.data.todo === undefined && event.data.skip === undefined)
      process.exitCode = 1;
    yield event;
  }
}

for await (const text of report(events())) process.stdout.write(text);
