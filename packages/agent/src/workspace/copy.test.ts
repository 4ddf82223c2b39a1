import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createWriteStream, rmSync } from 'node:fs';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { createBlobs, toChunk, type Blobs } from '@troupe/db';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { createWorkerPool, newId, silentLog } from '@troupe/kernel';
import { makeAgentRow } from '../testing.ts';
import { createCopy, type Copy } from './copy.ts';
import { Superseded } from './copy-store.ts';
import { keptWorkspace } from './kept-workspace.ts';
import { createWorkspace } from './workspace.ts';

const userId = 'ann';

describe('a workspace in the blob store', () => {
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

  /** An agent, and copies of its workspace as different machines have them. */
  async function agent() {
    const agentId = newId();
    await makeAgentRow(database.db, userId, agentId);
    const tree = blobs.tree({ userId, agentId, name: 'workspace' });
    return {
      agentId,
      tree,
      async copy(more: Partial<Parameters<typeof createCopy>[0]> = {}): Promise<Copy> {
        const root = path.join(base, newId(), agentId);
        const made = createCopy({ tree, root, pool, owner: userId, log: silentLog, ...more });
        await made.refresh();
        return made;
      },
    };
  }
  const there = (copy: Copy, name: string): Promise<string> => readFile(path.join(copy.root, name), 'utf8');
  /** All that is in a copy, as text. */
  async function picture({ root }: Copy): Promise<string[]> {
    const lines: string[] = [];
    for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
      const full = path.join(entry.parentPath, entry.name);
      const stat = await lstat(full);
      const says = stat.isSymbolicLink()
        ? `-> ${await readlink(full)}`
        : stat.isFile()
          ? await readFile(full, 'utf8')
          : '/';
      const mode = stat.isSymbolicLink() ? '' : (stat.mode & 0o777).toString(8);
      lines.push(`${path.relative(root, full)} ${mode} ${says}`);
    }
    return lines.sort();
  }

  test('is on another machine as it was left, whatever its names and kinds', async () => {
    const { copy } = await agent();
    const [one, other] = [await copy(), await copy()];
    const at = (name: string): string => path.join(one.root, name);
    await mkdir(at('empty'));
    await mkdir(at('deep/er'), { recursive: true });
    await writeFile(at('deep/er/two\nlines.txt'), 'newline');
    await writeFile(at('"quoted" \\ ü 🎭'), 'signs');
    await writeFile(at('nothing'), '');
    await writeFile(at('run.sh'), '#!/bin/sh');
    await chmod(at('run.sh'), 0o755);
    await symlink('/etc/passwd', at('way-out'));
    await symlink('deep', at('way-in'));
    one.touched();
    await one.keep();
    await other.refresh();
    assert.deepEqual(await picture(other), await picture(one));
    assert.deepEqual(await picture(await copy()), await picture(one), 'also on a machine that comes later');

    await rm(at('deep'), { recursive: true });
    await writeFile(at('deep'), 'a file now');
    await rm(at('nothing'));
    await mkdir(at('nothing'));
    await chmod(at('run.sh'), 0o600);
    await rename(at('way-in'), at('moved'));
    one.touched();
    await one.keep();
    await other.refresh();
    assert.deepEqual(await picture(other), await picture(one), 'changes of kind arrive too');
    assert.deepEqual(await picture(await copy()), await picture(one));
  });

  test('takes what the tools for files do, and no more than they did', async () => {
    const { copy, tree } = await agent();
    const one = await copy();
    const other = await copy();
    const tools = keptWorkspace(createWorkspace(one.root, { pool, owner: userId }), one, 'tool');
    const person = keptWorkspace(createWorkspace(other.root, { pool, owner: userId }), other, 'person');
    await tools.write('a/b.txt', 'first');
    assert.equal(await tree.state(), undefined, 'nothing is stored before the call is over');
    await one.keep();
    assert.equal(await person.read('a/b.txt'), 'first');
    const stored = await tree.state();
    await tools.read('a/b.txt');
    await one.keep();
    one.touched();
    await one.keep();
    assert.deepEqual(await tree.state(), stored, 'looking, and running something that writes nothing, changes nothing');
    await tools.move('a', 'c');
    await tools.makeFolder('d/e');
    await one.keep();
    await assert.rejects(person.read('a/b.txt'), { code: 'ENOENT' });
    assert.equal(await person.read('c/b.txt'), 'first');
    await person.put('uploads/plan.txt', [Buffer.from('plan')] as never, { maxBytes: 100 });
    one.unsure();
    assert.equal(await tools.read('uploads/plan.txt'), 'plan');
    await person.remove('c');
    one.unsure();
    await assert.rejects(tools.read('c/b.txt'), { code: 'ENOENT' });
    assert.deepEqual(await picture(one), await picture(other));
  });

  test('keeps what two machines write at once, and the later one of two that write the same', async () => {
    const { copy } = await agent();
    const both = [await copy(), await copy()];
    for (let round = 0; round < 5; round += 1)
      await Promise.all(
        both.map(async (one, index) => {
          for (let number = 0; number < 10; number += 1) {
            await writeFile(path.join(one.root, `${index}-${round}-${number}`), `${index}`);
            await writeFile(path.join(one.root, 'common'), `${index} ${round} ${number}`);
          }
          one.touched();
          await one.keep();
        }),
      );
    for (const one of both) await one.refresh();
    assert.equal((await picture(both[0]!)).length, 101);
    assert.deepEqual(await picture(both[0]!), await picture(both[1]!));
    assert.match(await there(both[0]!, 'common'), /^[01] 4 9$/);
  });

  test('takes nothing from a process whose session another one has, and undoes it there', async () => {
    const { copy, agentId } = await agent();
    await sql`insert into agent_sessions (id, agent_id, user_id, channel, key, lease_owner)
      values (${agentId}, ${agentId}, ${userId}, 'api', 'k', 'other')`.execute(database.db.system);
    const [late, holder] = [await copy(), await copy()];
    await writeFile(path.join(holder.root, 'report'), 'right');
    holder.touched();
    await holder.keep({ sessionId: agentId, owner: 'other' });
    await writeFile(path.join(late.root, 'report'), 'wrong');
    late.touched();
    await assert.rejects(late.keep({ sessionId: agentId, owner: 'late' }), Superseded);
    assert.equal(await there(late, 'report'), 'right');
    await late.keep();
    await holder.refresh();
    assert.equal(await there(holder, 'report'), 'right');
  });

  test('a machine that loses its disk loses nothing, and takes nothing from the others', async () => {
    const { copy } = await agent();
    const one = await copy();
    await writeFile(path.join(one.root, 'kept'), 'kept');
    one.touched();
    await one.keep();
    await rm(path.dirname(one.root), { recursive: true });
    one.touched();
    await assert.rejects(one.keep(), /gone from this machine/);
    await one.ready();
    await one.refresh();
    assert.equal(await there(one, 'kept'), 'kept');
    assert.equal(await there(await copy(), 'kept'), 'kept');
  });

  test('a disk that is emptied under a process that lives: who wrote is told, and all goes on at once', async () => {
    const { copy, tree } = await agent();
    const one = await copy();
    const tool = keptWorkspace(createWorkspace(one.root, { pool, owner: userId }), one, 'tool');
    const person = keptWorkspace(createWorkspace(one.root, { pool, owner: userId }), one, 'person');
    await tool.write('kept', 'kept');
    await one.keep();
    const empty = (): Promise<void> => rm(path.dirname(one.root), { recursive: true });

    // Nothing was under way: nobody notices.
    await empty();
    assert.equal(await tool.read('kept'), 'kept');
    await empty();
    await tool.write('next', 'next');
    await one.keep();
    assert.equal(one.losses(), 0);

    // One has written, another one finds out: both are told.
    await tool.write('lost', 'lost');
    const before = one.losses();
    await empty();
    assert.equal(await person.read('kept'), 'kept');
    await one.keep();
    assert.notEqual(one.losses(), before);
    await assert.rejects(tool.read('lost'), { code: 'ENOENT' });

    // A disk is emptied one thing after the other: what is gone from it is not what somebody removed.
    for (const left of [one.root, `${one.root}.index`]) {
      await tool.ready();
      one.touched();
      for (const name of await readdir(one.root)) await rm(path.join(one.root, name));
      const going = setTimeout(() => rmSync(left, { recursive: true }), 3);
      await assert.rejects(one.keep(), /gone from this machine/);
      clearTimeout(going);
    }
    assert.deepEqual(await picture(await copy()), ['kept 600 kept', 'next 600 next']);
    assert.ok((await tree.state())!.version > 0);
    // However long the rest takes to go: who wrote is not told that it is kept.
    await tool.write('brief', 'brief');
    await rm(path.join(one.root, 'brief'));
    await assert.rejects(one.keep(), /not there any more/);
    await one.keep();
    await tool.write('one', 'one');
    await tool.makeFolder('in');
    await tool.write('in/two', 'two');
    await tool.move('one', 'in/one');
    await tool.remove('in/one');
    await tool.remove('in/two');
    await one.keep();
    await tool.remove('in');
    await one.keep();
    assert.deepEqual(await picture(await copy()), ['kept 600 kept', 'next 600 next']);
    // And what somebody removed is removed.
    await tool.remove('next');
    await one.keep();
    assert.deepEqual(await picture(await copy()), ['kept 600 kept']);
  });

  test('of a process killed between a piece and the list of files nothing is left, and nothing is lost', async () => {
    const { copy, tree } = await agent();
    const one = await copy();
    await writeFile(path.join(one.root, 'old'), 'what was acknowledged');
    one.touched();
    await one.keep();
    const orphan = await toChunk(Buffer.from(`never listed ${newId()}`));
    await tree.put([orphan]);
    const count = async () => {
      const { rows } = await sql<{ n: number }>`select count(*)::integer as n from blob_chunks`.execute(
        database.db.system,
      );
      return rows[0]!.n;
    };
    const before = await count();
    await blobs.sweep();
    assert.ok((await count()) < before);
    assert.deepEqual(await tree.lacks([orphan.hash]), new Set([orphan.hash]));
    assert.equal(await there(await copy(), 'old'), 'what was acknowledged');
    // What was swept away while somebody took it for granted is stored again.
    const entry = { path: 'late', kind: 'file' as const, mode: 0o600, size: orphan.size, parts: [orphan.hash] };
    assert.deepEqual(await tree.store({ files: [entry] }), { status: 'missing' });
    assert.equal((await tree.store({ chunks: [orphan], files: [entry] })).status, 'stored');
    await blobs.sweep();
    assert.match(await there(await copy(), 'late'), /^never listed/);
    await tree.store({ gone: ['late'] });
    await blobs.sweep();
    assert.equal((await tree.lacks([orphan.hash])).size, 1, 'and goes with its file');
  });

  test('a file of 1 GB passes in pieces, and stays sparse', async () => {
    const { copy } = await agent();
    const one = await copy();
    const file = path.join(one.root, 'large');
    const size = 1024 ** 3;
    await writeFile(file, 'begin');
    await truncate(file, size);
    await using handle = await open(file, 'r+');
    await handle.write('middle', 700_000_001);
    one.touched();
    await one.keep();
    const other = await copy();
    const stat = await lstat(path.join(other.root, 'large'));
    assert.equal(stat.size, size);
    assert.ok(stat.blocks * 512 < 64 * 1024 ** 2, 'holes are holes');
    await using copied = await open(path.join(other.root, 'large'));
    const { buffer } = await copied.read(Buffer.alloc(6), 0, 6, 700_000_001);
    assert.equal(buffer.toString(), 'middle');
  });

  test('a file that changes while it is stored is whole in the end', async () => {
    const { copy } = await agent();
    const one = await copy();
    const file = path.join(one.root, 'log');
    const stream = createWriteStream(file);
    const over = new AbortController();
    const line = 'x'.repeat(99_999);
    const writing = (async () => {
      for (let number = 0; number < 100; number += 1) if (!stream.write(`${line}\n`)) await once(stream, 'drain');
      stream.end();
      await once(stream, 'close');
      over.abort();
    })();
    while (!over.signal.aborted) {
      one.touched();
      await one.keep();
    }
    await writing;
    one.touched();
    await one.keep();
    assert.equal(await there(await copy(), 'log'), await there(one, 'log'));
  });

  test('more than can be kept is said, not hidden, and can be mended', async () => {
    const { copy } = await agent();
    const one = await copy({ bounds: { bytes: 1000, entries: 5_500 } });
    const at = (name: string | number): string => path.join(one.root, String(name));
    await writeFile(at('first'), 'first');
    one.touched();
    await one.keep();
    for (let number = 0; number < 6_000; number += 1) await writeFile(at(number), '');
    one.touched();
    await assert.rejects(one.keep(), /more files and folders than can be/);
    assert.equal((await picture(await copy())).length, 1);
    // A page of them, and a few more than can be.
    for (let number = 5_510; number < 6_000; number += 1) await rm(at(number));
    await assert.rejects(one.keep(), /Not kept/);
    for (let number = 5; number < 5_510; number += 1) await rm(at(number));
    await one.keep();
    assert.equal((await picture(await copy())).length, 6);
    await writeFile(at('large'), 'x'.repeat(2000));
    one.touched();
    await assert.rejects(one.keep(), /larger, or more/);
    await rm(at('large'));
    await rm(at('first'));
    await one.keep();
    assert.equal((await picture(await copy())).length, 5);
  });

  test('a folder that was kept on one machine alone is brought in once', async () => {
    const { copy } = await agent();
    const old = path.join(base, newId());
    await mkdir(old);
    await writeFile(path.join(old, 'from-before'), 'here');
    const one = await copy({ before: old });
    assert.equal(await there(one, 'from-before'), 'here');
    assert.equal(await there(await copy(), 'from-before'), 'here');
    await assert.rejects(lstat(old));
    assert.equal(await readFile(path.join(`${old}.stored`, 'from-before'), 'utf8'), 'here');
  });
});
