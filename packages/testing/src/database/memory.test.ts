import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { serverFolder } from './memory.ts';

test('a server of tests has its data in memory, and what a killed run left there goes', async (t) => {
  const place = await serverFolder();
  t.after(() => rm(place, { recursive: true, force: true }));
  if (dirname(place) === tmpdir()) return t.skip('there is no room in memory');
  const left = async (pid?: number): Promise<string> => {
    const folder = await mkdtemp(join(dirname(place), 'troupe-test-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    await mkdir(join(folder, 'postgres'));
    if (pid !== undefined) await writeFile(join(folder, 'postgres/postmaster.pid'), `${pid}\n${folder}\n`);
    return folder;
  };
  const [used, ended, begins, neverBegan] = [
    await left(process.pid),
    await left(2 ** 22 + 1),
    await left(),
    await left(),
  ];
  const longAgo = Date.now() / 1000 - 3600;
  await utimes(neverBegan, longAgo, longAgo);
  const next = await serverFolder();
  t.after(() => rm(next, { recursive: true, force: true }));
  assert.deepEqual(
    [place, used, ended, begins, neverBegan].map((folder) => existsSync(folder)),
    [true, true, false, true, false],
  );
});
