import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

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
