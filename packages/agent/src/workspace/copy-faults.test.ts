import assert from 'node:assert/strict';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createBlobs, type Blobs, type BlobTree } from '@troupe/db';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { createWorkerPool, newId, silentLog } from '@troupe/kernel';
import { makeAgentRow } from '../testing.ts';
import { CopyLost } from './copy-store.ts';
import { createCopy, type Copy } from './copy.ts';

const userId = 'ann';

describe('a workspace in the blob store, on a disk that fails', () => {
  let database: TestDatabase;
  let blobs: Blobs;
  let base: string;
  const pool = createWorkerPool();
  before(async () => {
    database = await testDatabase();
    blobs = createBlobs({ db: database.db, log: silentLog, graceMinutes: 0 });
    base = await mkdtemp(path.join(tmpdir(), 'copies-'));
  });
  after(async () => {
    await pool.close();
    await database.drop();
    await rm(base, { recursive: true, force: true });
  });

  async function treeOf(): Promise<BlobTree> {
    const agentId = newId();
    await makeAgentRow(database.db, userId, agentId);
    return blobs.tree({ userId, agentId, name: 'workspace' });
  }
  async function copyOf(tree: BlobTree): Promise<Copy> {
    const made = createCopy({ tree, root: path.join(base, newId()), pool, owner: userId, log: silentLog });
    await made.refresh();
    return made;
  }
  async function writeTo(copy: Copy, name: string): Promise<void> {
    await writeFile(path.join(copy.root, name), name);
    copy.written(name);
  }
  const there = (copy: Copy, name: string): Promise<string> => readFile(path.join(copy.root, name), 'utf8');

  /** A tree whose next storing, when it is told to, is held up and then fails. */
  function failing(tree: BlobTree) {
    let next: { reached: () => void; failed: Promise<void> } | undefined;
    const store: BlobTree['store'] = async (...args) => {
      const meant = next;
      next = undefined;
      if (!meant) return tree.store(...args);
      meant.reached();
      await meant.failed;
      throw new Error('no room for it');
    };
    const hold = () => {
      const [reached, failed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      next = { reached: reached.resolve, failed: failed.promise };
      return { reached: reached.promise, fail: failed.resolve };
    };
    return { tree: { ...tree, store }, hold };
  }

  test('nobody is told that something is kept because somebody else is just failing to keep it', async () => {
    const tree = await treeOf();
    const bad = failing(tree);
    const one = await copyOf(bad.tree);
    await writeTo(one, 'plan');
    const { reached, fail } = bad.hold();
    const first = assert.rejects(one.keep(), /no room for it/);
    await reached;
    const second = one.keep();
    fail();
    await Promise.all([first, second]);
    assert.equal(await there(await copyOf(tree), 'plan'), 'plan', 'whoever was told so finds it elsewhere');
  });

  test('what could not be stored, and went away before it was, is told as not kept', async () => {
    const bad = failing(await treeOf());
    const one = await copyOf(bad.tree);
    await writeTo(one, 'plan');
    bad.hold().fail();
    await assert.rejects(one.keep(), /no room for it/);
    await rm(path.join(one.root, 'plan'));
    await assert.rejects(one.keep(), /not there any more/);
  });

  test('half a line in the index, as a full disk leaves it, costs what was not kept yet, and is mended', async () => {
    const tree = await treeOf();
    const one = await copyOf(tree);
    await writeTo(one, 'plan');
    await one.keep();
    await appendFile(`${one.root}.index`, '["notes","600:5:');
    await writeTo(one, 'notes');
    const losses = one.losses();
    await assert.rejects(one.keep(), CopyLost);
    assert.notEqual(one.losses(), losses);
    await one.ready();
    assert.equal(await there(one, 'plan'), 'plan', 'what was stored is here again');
    await writeTo(one, 'more');
    await one.keep();
    assert.equal(await there(await copyOf(tree), 'more'), 'more');
  });

  test('a copy that cannot be laid out again keeps nothing, and says so', async () => {
    const tree = await treeOf();
    let away = false;
    const state: BlobTree['state'] = async () => {
      if (away) throw new Error('the database is away');
      return tree.state();
    };
    const one = await copyOf({ ...tree, state });
    await rm(one.root, { recursive: true });
    away = true;
    await assert.rejects(one.ready(), /the database is away/);
    one.written('plan');
    await assert.rejects(one.keep(), CopyLost);
  });
});
