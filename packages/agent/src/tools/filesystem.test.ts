import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';
import { createWorkerPool } from '@troupe/kernel';
import { createWorkspace } from '../workspace/workspace.ts';
import { filesystemTools } from './filesystem.ts';
import { call } from './testing.ts';

const base = await mkdtemp(path.join(tmpdir(), 'agent-files-'));
const root = path.join(base, 'ws');
const outside = path.join(base, 'outside');
const pool = createWorkerPool();
after(() => pool.close());
const tools = filesystemTools(createWorkspace(root, { pool, owner: 'user', quotaBytes: 200_000 }));
const run = (name: string, args: unknown) => call(tools, name, args);

beforeEach(async () => {
  await rm(base, { recursive: true, force: true });
  await mkdir(root, { recursive: true });
  await mkdir(outside);
  await writeFile(path.join(outside, 'secret.txt'), 'SECRET');
});
after(() => rm(base, { recursive: true, force: true }));

describe('files', () => {
  test('are written, read, edited, listed, found, moved and deleted', async () => {
    await run('write_file', { path: 'a/b/note.md', content: 'one\ntwo\nthree' });
    assert.equal((await run('read_file', { path: '/workspace/a/b/note.md' })).content, 'one\ntwo\nthree');
    assert.equal((await run('read_file', { path: 'a/b/note.md', offset: 2, limit: 1 })).content, 'two\n[1 more lines]');
    await run('edit_file', { path: 'a/b/note.md', edits: [{ oldText: 'two', newText: '$& 2' }] });
    assert.equal(await readFile(path.join(root, 'a/b/note.md'), 'utf8'), 'one\n$& 2\nthree');
    assert.match(
      (await run('edit_file', { path: 'a/b/note.md', edits: [{ oldText: 'e', newText: 'x' }] })).content,
      /occurs 3 times/,
    );
    assert.equal((await run('list_directory', { path: 'a' })).content, 'b/');
    assert.equal((await run('directory_tree', {})).content, 'a/b/note.md');
    assert.equal((await run('search_files', { pattern: '*.md' })).content, 'a/b/note.md');
    assert.equal((await run('search_files_content', { query: 'thr' })).content, 'a/b/note.md:3: three');
    await run('create_directory', { path: 'new/deep' });
    await run('move_file', { source: 'a/b/note.md', destination: 'new/deep/n.md' });
    assert.equal((await run('directory_tree', {})).content, 'new/deep/n.md');
    await run('delete_file', { path: 'new' });
    assert.equal((await run('directory_tree', {})).content, 'There are no files.');
  });

  test('errors name the path as it was given and nothing of the host', async () => {
    const missing = await run('read_file', { path: 'nope.txt' });
    assert.deepEqual(missing, { content: 'nope.txt does not exist', isError: true });
    const folder = await run('write_file', { path: '.', content: 'x' });
    assert.equal(folder.isError, true);
  });
});

describe('the workspace cannot be left', () => {
  const ways: [string, string][] = [
    ['..', '../outside/secret.txt'],
    ['.. in the middle', 'a/../../outside/secret.txt'],
    ['an absolute path', path.join(outside, 'secret.txt')],
    ['a link to a file', 'link.txt'],
    ['a link to a folder', 'folder/secret.txt'],
    ['a link to a link', 'chain/secret.txt'],
    ['a zero byte', 'a\0/../../outside/secret.txt'],
  ];
  for (const [way, target] of ways) {
    test(`by ${way}`, async () => {
      await symlink(path.join(outside, 'secret.txt'), path.join(root, 'link.txt'));
      await symlink('../outside', path.join(root, 'folder'));
      await symlink('folder', path.join(root, 'chain'));
      const results = [
        await run('read_file', { path: target }),
        await run('edit_file', { path: target, edits: [{ oldText: 'SECRET', newText: 'x' }] }),
        await run('search_files_content', { path: path.posix.dirname(target), query: 'SECRET' }),
        await run('write_file', { path: target, content: 'overwritten' }),
        await run('move_file', { source: target, destination: 'stolen.txt' }),
        await run('delete_file', { path: target }),
      ];
      assert.ok(!JSON.stringify(results).includes('SECRET'));
      assert.equal(await readFile(path.join(outside, 'secret.txt'), 'utf8'), 'SECRET');
    });
  }

  test('by a folder that becomes a link while a file is written to it', async () => {
    await mkdir(path.join(root, 'd'));
    await symlink(outside, path.join(root, 'evil'));
    const swapping = new AbortController();
    const swap = (async () => {
      while (!swapping.signal.aborted) {
        await rename(path.join(root, 'd'), path.join(root, 'd2')).catch(() => undefined);
        await rename(path.join(root, 'evil'), path.join(root, 'd')).catch(() => undefined);
        await rename(path.join(root, 'd'), path.join(root, 'evil')).catch(() => undefined);
        await rename(path.join(root, 'd2'), path.join(root, 'd')).catch(() => undefined);
      }
    })();
    for (let i = 0; i < 200; i++) {
      await run('write_file', { path: 'd/secret.txt', content: 'overwritten' });
      const read = await run('read_file', { path: 'd/secret.txt' });
      assert.ok(!read.content.includes('SECRET'));
    }
    swapping.abort();
    await swap;
    assert.equal(await readFile(path.join(outside, 'secret.txt'), 'utf8'), 'SECRET');
  });

  test('links inside are followed', async () => {
    await writeFile(path.join(root, 'real.txt'), 'inside');
    await symlink('real.txt', path.join(root, 'alias.txt'));
    assert.equal((await run('read_file', { path: 'alias.txt' })).content, 'inside');
  });
});

describe('bounds', () => {
  test('a full workspace takes no more, and nothing half', async () => {
    const big = 'x'.repeat(150_000);
    assert.ok(!(await run('write_file', { path: 'a', content: big })).isError);
    const second = await run('write_file', { path: 'b', content: big });
    assert.match(second.content, /workspace is full/);
    assert.equal((await run('directory_tree', {})).content, 'a');
  });

  test('a pipe does not block, a huge file is refused', async () => {
    execFileSync('mkfifo', [path.join(root, 'pipe')]);
    assert.match((await run('read_file', { path: 'pipe' })).content, /is not a file/);
    execFileSync('truncate', ['-s', '1G', path.join(root, 'huge')]);
    assert.match((await run('read_file', { path: 'huge' })).content, /larger than/);
  });
});
