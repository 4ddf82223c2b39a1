import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { allEndpoints } from '@troupe/contract';

const root = path.resolve(import.meta.dirname, '..');
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root });
const text = (file: string) => readFileSync(path.join(root, file), 'utf8');

test('links between pages lead somewhere', () => {
  assert.ok(pages.length > 5);
  const dead = pages.flatMap((page) =>
    [...text(page).matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)]
      .map((match) => match[1] ?? '')
      .filter((target) => !existsSync(path.resolve(root, path.dirname(page), target)))
      .map((target) => `${page} → ${target}`),
  );
  assert.deepEqual(dead, []);
});

test('every decision is in the index', () => {
  const decisions = globSync('docs/adr/[0-9]*.md', { cwd: root }).map((file) => path.basename(file));
  const index = text('docs/adr/README.md');
  assert.deepEqual(
    decisions.filter((file) => !index.includes(`(${file})`)),
    [],
    'add its line to docs/adr/README.md',
  );
});

test('every promise about security names where it is kept and tests that exist', () => {
  const promises = text('docs/security.md')
    .split('## Promises')[1]!
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| **'));
  assert.ok(promises.length > 10);
  const named = (cell: string): string[] => cell.match(/\b(?:apps|packages|scripts|tests|bench)\/[\w./-]*\w/g) ?? [];
  for (const promise of promises) {
    const [, what = '', kept = '', tested = ''] = promise.split('|');
    assert.ok(named(kept).length > 0, `where is it kept? ${what}`);
    assert.ok(named(tested).length > 0, `what tests it? ${what}`);
    const absent = [...named(kept), ...named(tested)].filter((file) => !existsSync(path.join(root, file)));
    assert.deepEqual(absent, [], what);
  }
  const benches = [...text('docs/security.md').matchAll(/npm run bench -- (\w+)/g)].map(
    (match) => `bench/${match[1]}.ts`,
  );
  assert.deepEqual(
    benches.filter((file) => !existsSync(path.join(root, file))),
    [],
  );
});

test('every ability names a page, calls and tests that exist, every fault a test, every figure a bench', () => {
  const sections = text('docs/abilities.md').split('\n## ');
  const rows = (title: string): string[][] =>
    sections
      .find((one) => one.startsWith(title))!
      .split('\n')
      .filter((line) => line.startsWith('| **'))
      .map((line) => line.split('|').slice(1, -1));
  const files = (cell: string): string[] => cell.match(/\b(?:apps|packages|tests)\/[\w./-]*\w/g) ?? [];
  const calls = new Set(allEndpoints().map(({ method, path: at }) => `${method} ${at}`));
  const absent: string[] = [];
  const check = (what: string, cell: string, isRight: (file: string) => boolean): void => {
    if (files(cell).length === 0) absent.push(`${what}: nothing is named`);
    absent.push(...files(cell).filter((file) => !existsSync(path.join(root, file)) || !isRight(file)));
  };
  assert.ok(rows('Abilities').length >= 11);
  for (const [what = '', page = '', api = '', tests = ''] of rows('Abilities')) {
    check(what, page, (file) => file.endsWith('.tsx'));
    check(what, tests, (file) => file.endsWith('.test.ts'));
    const named = [...api.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
    if (named.length === 0) absent.push(`${what}: no call is named`);
    absent.push(...named.filter((one) => !calls.has(one)));
  }
  assert.ok(rows('Bad input').length > 10);
  for (const [what = '', , tests = ''] of rows('Bad input')) check(what, tests, (file) => file.endsWith('.test.ts'));
  for (const [what = '', , by = ''] of rows('Figures')) {
    const bench = /npm run bench -- (\w+)/.exec(by)?.[1] ?? '';
    if (!existsSync(path.join(root, `bench/${bench}.ts`))) absent.push(`${what}: ${by}`);
  }
  assert.deepEqual(absent, []);
});
