import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { prepareTestServer } from '@troupe/testing/database/server';
import { importsOf, readSources, type Source } from '@troupe/testing/sources/sources';
import { isRequired, lookAround } from '@troupe/testing/machine/needs';
import { check } from '../check.mjs';
import { ROOT, run } from './run.mjs';
import { Stop, step } from './step.mjs';
import { grouped, measures, runnable } from './test-groups.ts';
import { slowestFirst } from './test-order.ts';

const TIMEOUT_MS = 180_000;
/** One more would leave no processor idle, take as long, and let tests of time-outs fail. */
const LANES = Math.max(2, availableParallelism());

/**
 * Runs the checks and, beside them, all tests, or only the files named. `--external`: only those for which another
 * server makes a difference, on the server of TEST_EXTERNAL_DATABASE_URL. Node's summary comes last. Returns the exit
 * code.
 */
export async function runTests(args: readonly string[]): Promise<number> {
  const external = args.includes('--external');
  const named = args.filter((arg) => !arg.startsWith('--'));
  const url = external ? process.env['TEST_EXTERNAL_DATABASE_URL'] : undefined;
  if (external && url === undefined) throw new Stop('TEST_EXTERNAL_DATABASE_URL is not set.');
  const sources = new Map(readSources(ROOT).map((source) => [source.path, source]));
  const files = named.length > 0 ? named : slowestFirst(testFiles(sources, external));
  const absent = files.filter((file) => !/[*?]/.test(file) && !existsSync(path.resolve(ROOT, file)));
  if (absent.length > 0) throw new Stop(`There is no ${absent.join(', ')}.`);
  const { lacks, env } = lookAround();
  if (lacks.length > 0) {
    const missing = lacks.filter(isRequired);
    if (missing.length > 0) throw new Stop(`This machine lacks ${missing.join(', ')}.`);
    console.log(`Tests that need ${lacks.join(', ')} are skipped: this machine lacks it.`);
  }
  const server = await step('Preparing the test database', () => prepareTestServer({ externalUrl: url }));
  const groups = Object.groupBy(grouped(files, sources), (group) => (measures(group, sources) ? 'last' : 'first'));
  const first = runnable(groups.first ?? []);
  const last = runnable(groups.last ?? []);
  const checked = named.length === 0 && !external ? checks() : Promise.resolve(true);
  try {
    const { code } = await run(
      process.execPath,
      [`${import.meta.dirname}/run-files.ts`, `${LANES}`, `${TIMEOUT_MS}`, ...first.files, '--alone', ...last.files],
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
    return (await checked) ? code : code || 1;
  } finally {
    first.remove();
    last.remove();
    await server.stop();
  }
}

async function checks(): Promise<boolean> {
  try {
    await check(process.execPath);
    return true;
  } catch (error) {
    console.error(error instanceof Stop ? error.message : error);
    return false;
  }
}

/**
 * What another server changes: its version, and a login that is no superuser. So what is run there is what makes, copies
 * and locks tables, and the black box of the contract, which comes by every query once. The rest would only do so again.
 */
const ON_ANOTHER_SERVER = [
  /^packages\/(db|accounts|ledger|usage)\//,
  /^packages\/agent\/src\/.*store.*\.test\.ts$/,
  /^apps\/backend\/src\/.*(scheduler|underground)\//,
  /^apps\/web\/src\/identity\/(account|audit|invites|keys|password|settings)\//,
  /^apps\/web\/src\/agents\/(agents|backups|conversations|files|instance|memory|provision)\//,
  /^apps\/web\/src\/money\/(policy|usage)\//,
  /^apps\/backend\/src\/agents\/(runtime|skills|teams)\//,
  /^tests\/spec\//,
  /^tests\/faults\/(backup|usage|ledger-verify)\.test\.ts$/,
];

const isTest = (file: string): boolean => /\.test\.tsx?$/.test(file);

function testFiles(sources: ReadonlyMap<string, Source>, external: boolean): string[] {
  const tests = [...sources.keys()].filter(isTest);
  if (!external) return tests;
  return tests.filter(
    (file) => ON_ANOTHER_SERVER.some((pattern) => pattern.test(file)) && usesDatabase(file, sources, new Set()),
  );
}

/** Whether the file, or a file of ours that it imports, asks for a test database. */
function usesDatabase(file: string, sources: ReadonlyMap<string, Source>, seen: Set<string>): boolean {
  const source = sources.get(file);
  if (source === undefined || seen.has(file)) return false;
  seen.add(file);
  if (/\btest(Database|Runtime)\b/.test(source.text)) return true;
  return importsOf(source).some((found) => found.file !== undefined && usesDatabase(found.file, sources, seen));
}
