import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { importsOf, readSources } from '@troupe/testing/sources/sources';
import { ROOT } from './run.mjs';

/** What files of tests are led to when they import something: the same as without us. */

const HOOK = new URL('test-resolves.ts', import.meta.url).href;
const urlOf = (file: string): string => pathToFileURL(path.join(ROOT, file)).href;
const node = (args: readonly string[], input: string): string => {
  const { stdout, stderr, status } = spawnSync(process.execPath, [...args, '--input-type=module'], {
    cwd: ROOT,
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  assert.equal(status, 0, stderr);
  return stdout;
};

test('every import of ours leads to the file that it leads to without it', () => {
  const asked = readSources(ROOT).flatMap((source) =>
    importsOf(source)
      .filter(({ isStarted }) => !isStarted)
      .map(({ specifier }) => [specifier, urlOf(source.path)]),
  );
  const program = `
    const find = ([specifier, parent]) => {
      try { return import.meta.resolve(specifier, parent); } catch (error) { return error.code; }
    };
    console.log(JSON.stringify(${JSON.stringify(asked)}.map(find)));`;
  const all = (args: readonly string[]) =>
    JSON.parse(node([...args, '--experimental-import-meta-resolve'], program)) as string[];
  const [led, usual] = [all(['--import', HOOK]), all([])];
  assert.ok(asked.length > 3000, `${asked.length}`);
  assert.deepEqual(
    asked.filter((_, at) => led[at] !== usual[at]).map(([specifier, parent]) => `${specifier} of ${parent}`),
    [],
  );
});

test('what is not there is told by its name, and what is no module is loaded as what it is', () => {
  const program = `
    const missing = await import('./scripts/lib/no-such-file.ts').catch((error) => error.message);
    const { default: times } = await import('./scripts/lib/test-times.json', { with: { type: 'json' } });
    const { default: pg } = await import('pg');
    console.log(missing.includes('no-such-file.ts'), typeof times, typeof pg.Client);`;
  assert.equal(node(['--import', HOOK], program), 'true object function\n');
});
