import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileEntry, SessionHead, WebAgent } from '@troupe/contract';
import { filesFound, foldersIn, lookedThrough, talksFound } from './palette-found.ts';

const agent = (id: string, updatedAt = '2026-01-01', tags: string[] = []) =>
  ({ id, name: id, updatedAt, tags }) as unknown as WebAgent;
const session = (id: string, title?: string) => ({ id, title }) as unknown as SessionHead;
const entry = (name: string, kind: FileEntry['kind'] = 'file') => ({ name, kind }) as FileEntry;

test('the agent at hand is looked through first, then those pinned, then the newest, and not all of them', () => {
  const many = Array.from({ length: 500 }, (_, n) =>
    agent(`a${n}`, `2026-01-${String((n % 28) + 1).padStart(2, '0')}`),
  );
  const all = [...many, agent('pin', '2020-01-01', ['Pinned']), agent('here', '2019-01-01')];
  const looked = lookedThrough(all, '/dashboard/agents/here').map(({ id }) => id);
  assert.deepEqual([looked.length, looked[0], looked[1]], [6, 'here', 'pin']);
  assert.equal(looked[2], 'a27');
  assert.equal(lookedThrough(all, '/dashboard')[0]?.id, 'pin');
});

test('conversations are found by title first, then by what was said, each once', () => {
  const here = agent('here');
  const lists = [{ agent: here, sessions: [session('s1', 'Tour plan'), session('s2', 'Press'), session('s3')] }];
  const said = [
    { agent: here, sessionId: 's2', title: 'Press', at: 9 },
    { agent: here, sessionId: 's2', title: 'Press', at: 4 },
    { agent: here, sessionId: 's1', title: 'Tour plan', at: 2 },
  ];
  const found = talksFound(lists, said, 'PLAN tour');
  assert.deepEqual(
    found.map(({ sessionId, at }) => [sessionId, at]),
    [
      ['s1', undefined],
      ['s2', 9],
    ],
  );
  const many = Array.from({ length: 100 }, (_, n) => session(`s${n}`, `Tour ${n}`));
  assert.equal(talksFound([{ agent: here, sessions: many }], [], 'tour').length, 8);
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
