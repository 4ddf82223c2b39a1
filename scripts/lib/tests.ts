import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { prepareTestServer, type TestServer } from '@troupe/testing/database/server';
import { importsOf, readSources, type Source } from '@troupe/testing/sources/sources';
import { isRequired, lookAround } from '@troupe/testing/machine/needs';
import { check } from '../check.mjs';
import { ROOT, run } from './run.mjs';
import { Stop, step } from './step.mjs';
import { writePlan, type Part, type Took } from './test-plan.ts';

const TIMEOUT_MS = 180_000;
const LANES = Math.max(2, availableParallelism());

/**
 * Runs the checks and all tests, or only the files named. Where TEST_EXTERNAL_DATABASE_URL is set, those for which another
 * server makes a difference run on that server, too; `--external`: only these. Node's summary comes last. Returns the
 * exit code.
 */
export async function runTests(args: readonly string[]): Promise<number> {
  const external = args.includes('--external');
  const named = args.filter((arg) => !arg.startsWith('--'));
  const url = process.env['TEST_EXTERNAL_DATABASE_URL'];
  if (external && url === undefined) throw new Stop('TEST_EXTERNAL_DATABASE_URL is not set.');
  const absent = named.filter((file) => !/[*?]/.test(file) && !existsSync(path.resolve(ROOT, file)));
  if (absent.length > 0) throw new Stop(`There is no ${absent.join(', ')}.`);
  const env = whatIsHere();
  const took: Took[] = [];
  const timed = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    const done = await work();
    took.push([what, performance.now() - began]);
    return done;
  };
  const checked = named.length === 0 && !external ? await timed('the check', checks) : true;
  const sources = new Map(readSources(ROOT).map((source) => [source.path, source]));
  const all = named.length > 0 ? named : [...sources.keys()].filter(isTest);
  const chosen = named.length > 0 ? named : onAnotherServer(all, sources);
  const there = external || (named.length === 0 && url !== undefined) ? chosen : [];
  const here = external ? [] : all.filter((file) => !ON_ANOTHER.test(file) || !there.includes(file));
  const servers: TestServer[] = [];
  const prepared = async (title: string, externalUrl?: string): Promise<string> => {
    servers.push(await timed(title, () => step(title, () => prepareTestServer({ externalUrl }))));
    return servers.at(-1)!.url;
  };
  try {
    const parts: Part[] = [];
    if (there.length > 0)
      parts.push({
        files: there,
        env: { TEST_DATABASE_URL: await prepared('Preparing a test database on another server', url) },
        suffix: ' on another server',
      });
    if (here.length > 0)
      parts.push({ files: here, env: { TEST_DATABASE_URL: await prepared('Preparing the test database') } });
    return (await runPlanned(parts, sources, { env, took })) || (checked ? 0 : 1);
  } finally {
    for (const server of servers) await server.stop();
  }
}

/** What the tests are told of this machine. What lacks is named, or ends the run where nothing may lack. */
function whatIsHere(): Record<string, string> {
  const { lacks, env } = lookAround();
  const missing = lacks.filter(isRequired);
  if (missing.length > 0) throw new Stop(`This machine lacks ${missing.join(', ')}.`);
  if (lacks.length > 0) console.log(`Tests that need ${lacks.join(', ')} are skipped: this machine lacks it.`);
  return env;
}

async function runPlanned(
  parts: readonly Part[],
  sources: ReadonlyMap<string, Source>,
  { env, took }: { env: Record<string, string>; took: readonly Took[] },
): Promise<number> {
  const plan = writePlan(parts, sources, { lanes: LANES, timeoutMs: TIMEOUT_MS, took });
  try {
    const { code } = await run(process.execPath, [`${import.meta.dirname}/run-files.ts`, plan.file], {
      env: {
        ...process.env,
        ...parts.at(-1)?.env,
        ...env,
        NODE_ENV: 'test',
        NODE_COMPILE_CACHE: path.join(ROOT, '.runtime/cache'),
      },
    });
    return code;
  } finally {
    plan.remove();
  }
}

/** Those of the architecture are tests, too. */
async function checks(): Promise<boolean> {
  try {
    await check(process.execPath, ['architecture']);
    return true;
  } catch (error) {
    console.error(error instanceof Stop ? error.message : error);
    return false;
  }
}

/**
 * What another server changes: its version, and a login that is no superuser. So what makes, copies and locks tables runs on
 * both, and the black box of the contract, which comes by every query once, on that one instead of ours, where the tests
 * of the slices come by them.
 */
const ON_BOTH = [/^packages\/(db|accounts|ledger|usage)\//, /^packages\/agent\/src\/.*store.*\.test\.ts$/];
const ON_ANOTHER = /^tests\/spec\//;

const isTest = (file: string): boolean => /\.test\.tsx?$/.test(file);

const onAnotherServer = (files: readonly string[], sources: ReadonlyMap<string, Source>): string[] =>
  files.filter(
    (file) => [...ON_BOTH, ON_ANOTHER].some((pattern) => pattern.test(file)) && usesDatabase(file, sources, new Set()),
  );

/** Whether the file, or a file of ours that it imports, asks for a test database. */
function usesDatabase(file: string, sources: ReadonlyMap<string, Source>, seen: Set<string>): boolean {
  const source = sources.get(file);
  if (source === undefined || seen.has(file)) return false;
  seen.add(file);
  if (/\btest(Database|Runtime)\b/.test(source.text)) return true;
  return importsOf(source).some((found) => found.file !== undefined && usesDatabase(found.file, sources, seen));
}
