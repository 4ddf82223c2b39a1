import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { prepareTestServer } from '@troupe/db';
import { importsOf, readSources, type Source } from '../../tests/lib/architecture.ts';
import { lookAround } from '../../tests/lib/needs.ts';
import { check } from '../check.mjs';
import { ROOT, run } from './run.mjs';
import { Stop, step } from './step.mjs';

const TIMEOUT_MS = 180_000;

/**
 * Runs the checks and all tests, or only the files named. `--external`: only those of what uses the database, on
 * the server of TEST_EXTERNAL_DATABASE_URL. Node's summary comes last. Returns the exit code.
 */
export async function runTests(args: readonly string[]): Promise<number> {
  const external = args.includes('--external');
  const named = args.filter((arg) => !arg.startsWith('--'));
  const url = external ? process.env['TEST_EXTERNAL_DATABASE_URL'] : undefined;
  if (external && url === undefined) throw new Stop('TEST_EXTERNAL_DATABASE_URL is not set.');
  const files = named.length > 0 ? named : testFiles(external);
  const absent = files.filter((file) => !/[*?]/.test(file) && !existsSync(path.resolve(ROOT, file)));
  if (absent.length > 0) throw new Stop(`There is no ${absent.join(', ')}.`);
  if (named.length === 0 && !external) await check(process.execPath);

  const { lacks, env } = lookAround();
  if (lacks.length > 0) {
    if (process.env['TROUPE_REQUIRE_ALL'] === '1') throw new Stop(`This machine lacks ${lacks.join(', ')}.`);
    console.log(`Tests that need ${lacks.join(', ')} are skipped: this machine lacks it.`);
  }
  const server = await step('Preparing the test database', () => prepareTestServer({ externalUrl: url }));
  try {
    const { code } = await run(
      process.execPath,
      ['--test', `--test-concurrency=${Math.max(2, availableParallelism())}`, `--test-timeout=${TIMEOUT_MS}`, ...files],
      {
        env: {
          ...process.env,
          ...env,
          NODE_ENV: 'test',
          TEST_DATABASE_URL: server.url,
          NODE_COMPILE_CACHE: path.join(ROOT, '.runtime/cache'),
        },
      },
    );
    return code;
  } finally {
    await server.stop();
  }
}

/** What the container engine does is the same whatever the database; these are the slowest tests there are. */
const ABOUT_THE_ENGINE = /^(packages\/fleet\/src\/docker\/|tests\/deploy\/|tests\/faults\/(docker|swarm)[.-])/;

const isTest = (file: string): boolean => /\.test\.tsx?$/.test(file);

function testFiles(databaseOnly: boolean): string[] {
  const sources = new Map(readSources(ROOT).map((source) => [source.path, source]));
  const tests = [...sources.keys()].filter(isTest);
  return databaseOnly
    ? tests.filter((file) => !ABOUT_THE_ENGINE.test(file) && usesDatabase(file, sources, new Set()))
    : tests;
}

/** Whether the file, or a file of ours that it imports by path, asks for a test database. */
function usesDatabase(file: string, sources: ReadonlyMap<string, Source>, seen: Set<string>): boolean {
  const source = sources.get(file);
  if (source === undefined || seen.has(file)) return false;
  seen.add(file);
  if (/\btest(Database|Runtime)\b/.test(source.text)) return true;
  return importsOf(source).some((found) => found.file !== undefined && usesDatabase(found.file, sources, seen));
}
