import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileEntry, WebAgent } from '@troupe/contract';
import { byNearness, filesFound, foldersIn, lookedThrough, withFiles } from './palette-found.ts';

const agent = (id: string, updatedAt = '2026-01-01', tags: string[] = []) =>
  ({ id, name: id, updatedAt, tags }) as unknown as WebAgent;
const entry = (name: string, kind: FileEntry['kind'] = 'file') => ({ name, kind }) as FileEntry;

test('the agent at hand is first, then those pinned, then the newest; files of a few of them are listed', () => {
  const many = Array.from({ length: 500 }, (_, n) =>
    agent(`a${n}`, `2026-01-${String((n % 28) + 1).padStart(2, '0')}`),
  );
  const all = [...many, agent('pin', '2020-01-01', ['Pinned']), agent('here', '2019-01-01')];
  const looked = lookedThrough(all, '/dashboard/agents/here').map(({ id }) => id);
  assert.deepEqual([looked.length, looked[0], looked[1]], [6, 'here', 'pin']);
  assert.equal(looked[2], 'a27');
  assert.equal(byNearness(all, '/dashboard')[0]?.id, 'pin');
  assert.equal(byNearness(all, '/dashboard').length, 502);
});

test('files are found by their path, in the folders that were looked into', () => {
  const here = agent('here');
  const root = [entry('plan.md'), entry('reports', 'folder'), entry('.git', 'folder'), entry('pipe', 'other')];
  assert.deepEqual(foldersIn(root), ['reports']);
  const folders = [
    { agent: here, folder: '.', entries: root },
    { agent: here, folder: 'reports', entries: [entry('May.pdf')] },
  ];
  const paths = (text: string) => filesFound(folders, text).map(({ path }) => path);
  assert.deepEqual(paths('report'), ['reports', 'reports/May.pdf']);
  assert.deepEqual(paths('may reports'), ['reports/May.pdf']);
  assert.deepEqual(paths('pipe'), []);
  assert.deepEqual(paths('.*'), []);
});

test('a file that was found in both ways is shown once', () => {
  const known = [{ agentId: 'here', agentName: 'here', path: 'a.md', isFolder: false }];
  const listed = ['a.md', 'b.md'].map((path) => ({ agent: agent('here'), path, isFolder: false }));
  assert.deepEqual(
    withFiles(known, listed).map(({ path }) => path),
    ['a.md', 'b.md'],
  );
});
