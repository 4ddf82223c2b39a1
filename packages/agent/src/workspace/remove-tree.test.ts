import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { removeTree } from './remove-tree.ts';

test('a folder deeper than a path can say is removed, and one that is not there is no error', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'troupe-deep-'));
  const name = 'd'.repeat(200);
  execFileSync('sh', ['-c', `cd "$1"; for i in $(seq 40); do mkdir ${name} && cd -P ${name}; done`, 'sh', folder]);
  await assert.rejects(rm(folder, { recursive: true }), { code: 'ENAMETOOLONG' });
  await removeTree(folder);
  assert.equal(existsSync(folder), false);
  await removeTree(folder);
});
