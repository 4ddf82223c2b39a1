import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, cp, lstat, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findBinaries, packageFolder } from './binaries.ts';
import { serverOwner } from './owner.ts';

test('a package without its links, in a place that the server cannot enter, is completed and copied', async () => {
  const root = await mkdtemp(join(tmpdir(), 'troupe-binaries-'));
  try {
    await chmod(root, 0o755);
    const closed = join(root, 'closed');
    const home = join(closed, 'package');
    await cp(packageFolder(), home, {
      recursive: true,
      filter: async (path) => !(await lstat(path)).isSymbolicLink(),
    });
    await chmod(closed, 0o700);
    const owner = await serverOwner(join(root, 'none'));
    const shared = join(root, 'shared');
    // Two starts at once: both find it whole.
    const [{ postgres }] = await Promise.all([findBinaries(owner, home, shared), findBinaries(owner, home, shared)]);
    assert.ok(postgres.startsWith(owner ? shared : home));
    const { stdout, stderr } = spawnSync(postgres, ['--version'], { ...owner, cwd: '/', encoding: 'utf8' });
    assert.match(stdout, /PostgreSQL\) 18/, stderr);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});
