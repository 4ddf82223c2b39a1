import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { silentLog } from '@troupe/kernel';
import { startData } from './data.ts';
import { holdData } from './holding.ts';

const TOKEN = 'd'.repeat(64);
const root = await mkdtemp(path.join(tmpdir(), 'troupe-data-'));
const open: { close: () => Promise<void> }[] = [];
after(async () => {
  for (const one of open) await one.close();
  await rm(root, { recursive: true, force: true });
});

async function served(name: string, DATA_SHARED: 'on' | 'off' = 'off') {
  const folder = path.join(root, name);
  const place = { DATA_DIR: folder, HOST: '127.0.0.1', PORT: 0 };
  const settings = { ...place, DATA_TOKEN: TOKEN, DATA_SHARED, LOG_LEVEL: 'silent' as const };
  const data = await startData({ settings, log: silentLog });
  open.push(data);
  const ask = (method: string, body?: Buffer, token = TOKEN): Promise<Response> =>
    fetch(`${data.url}/data`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body && { body: new Uint8Array(body) }),
    });
  return { folder, ask };
}

test('what one gives out another takes, while the database is being written', async () => {
  const from = await served('from');
  const db = new DatabaseSync(path.join(from.folder, 'agent.db'));
  db.exec("pragma journal_mode = wal; create table t (x text); insert into t values ('kept')");
  await mkdir(path.join(from.folder, 'workspace/deep'), { recursive: true });
  await writeFile(path.join(from.folder, 'workspace/deep/note.txt'), 'dear moon');
  await symlink('deep/note.txt', path.join(from.folder, 'workspace/link'));
  const given = await from.ask('GET');
  assert.equal(given.status, 200);
  const archive = gzipSync(Buffer.from(await given.arrayBuffer()));
  db.close();
  assert.ok(!(await readdir(from.folder)).some((name) => name.startsWith('.')), 'nothing of ours is left');

  const to = await served('to');
  await writeFile(path.join(to.folder, 'old.txt'), 'gone');
  for (const _ of ['once', 'again']) assert.equal((await to.ask('PUT', archive)).status, 204);
  assert.deepEqual((await readdir(to.folder)).sort(), ['agent.db', 'workspace']);
  assert.equal(await readFile(path.join(to.folder, 'workspace/deep/note.txt'), 'utf8'), 'dear moon');
  assert.equal(await readlink(path.join(to.folder, 'workspace/link')), 'deep/note.txt');
  const copy = new DatabaseSync(path.join(to.folder, 'agent.db'), { readOnly: true });
  assert.equal(copy.prepare('select x from t').get()?.['x'], 'kept');
  copy.close();
});

test('what is taken waits until whoever uses the data on another machine has ended, and is given out without its signs', async () => {
  const { folder, ask } = await served('shared', 'on');
  await writeFile(path.join(folder, 'note.txt'), 'mine');
  let isOver = false;
  const holding = await holdData({
    folder,
    log: silentLog,
    onClaimed: () =>
      setTimeout(() => {
        isOver = true;
        void holding.close();
      }, 300),
    onLost: () => assert.fail('it lives'),
  });
  const given = Buffer.from(await (await ask('GET')).arrayBuffer());
  assert.ok(given.includes('note.txt') && !given.includes('.holder') && !given.includes('.claim'));
  assert.equal((await ask('PUT', gzipSync(given))).status, 204);
  assert.ok(isOver);
  assert.deepEqual((await readdir(folder)).toSorted(), ['.claim', 'note.txt']);
});

test('who has no token gets nothing, and what is no archive changes nothing', async () => {
  const { folder, ask } = await served('kept');
  await writeFile(path.join(folder, 'note.txt'), 'mine');
  assert.equal((await ask('GET', undefined, 'x'.repeat(64))).status, 401);
  assert.equal((await ask('PUT', gzipSync(Buffer.alloc(700, 'x')))).status, 500);
  assert.equal((await ask('PUT', Buffer.from('no archive'))).status, 500);
  assert.equal(await readFile(path.join(folder, 'note.txt'), 'utf8'), 'mine');
  assert.equal((await ask('DELETE')).status, 404);
});
