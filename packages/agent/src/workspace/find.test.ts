import assert from 'node:assert/strict';
import { mkdir, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { createWorkerPool, type WorkerPool } from '@troupe/kernel';
import { run } from './tasks/find.task.ts';
import { makeWorkspace, type Workspace } from './workspace.ts';

let root: string;
let pool: WorkerPool;
let workspace: Workspace;
before(async () => {
  root = mkdtempSync(path.join(tmpdir(), 'troupe-find-'));
  pool = createWorkerPool();
  workspace = await makeWorkspace(root, { pool, owner: 'u' });
});
after(async () => {
  await pool.close();
  rmSync(root, { recursive: true, force: true });
});

test('files are found by pattern; what changed has a mark, what is being written none; links lead nowhere', async () => {
  await mkdir(path.join(root, 'inbox/deep'), { recursive: true });
  for (const name of ['inbox/a.pdf', 'inbox/deep/b.pdf', 'inbox/c.txt', 'inbox/.0123456789abcdef.part'])
    await writeFile(path.join(root, name), name);
  await symlink('/etc/passwd', path.join(root, 'inbox/link.pdf'));
  const paths = async (pattern: string) => (await workspace.find(pattern, 0)).map((file) => file.path).sort();
  assert.deepEqual(await paths('inbox/*.pdf'), ['inbox/a.pdf']);
  assert.deepEqual(await paths('*.pdf'), ['inbox/a.pdf', 'inbox/deep/b.pdf']);
  assert.deepEqual(await paths('**/*.txt'), ['inbox/c.txt']);
  assert.ok((await workspace.find('*.pdf', 0)).every(({ fresh, mark }) => fresh && mark === undefined));
});

test('marks follow the content, not the times', async () => {
  // As if it were a while later: nothing is being written any more.
  const look = (since: number) => run({ root, pattern: 'inbox/a.pdf', since, now: Date.now() + 10_000 });
  const [first] = await look(0);
  assert.match(first!.mark!, /^[0-9a-f]{32}$/);
  await utimes(path.join(root, 'inbox/a.pdf'), new Date(), new Date());
  assert.equal((await look(0))[0]!.mark, first!.mark);
  assert.equal((await look(Date.now() + 1000))[0]!.mark, undefined, 'nothing changed since');
  await writeFile(path.join(root, 'inbox/a.pdf'), 'INBOX/A.PDF');
  assert.notEqual((await look(0))[0]!.mark, first!.mark);
  await rename(path.join(root, 'inbox/a.pdf'), path.join(root, 'inbox/moved.pdf'));
  assert.deepEqual(await look(0), []);
});

test('a pattern that means too much is refused in words', async () => {
  await assert.rejects(workspace.find('{a,b}'.repeat(10), 0), /The pattern stands for more than 100 others/);
});
