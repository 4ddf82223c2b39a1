// Commands could take gigabytes of shared memory unnoticed, had root's rights where the platform had, and their files could be read by everybody.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createSandbox, makeWorkspace, type Sandbox, type Workspace } from '@troupe/agent';
import { createWorkerPool } from '@troupe/kernel';
import { needs } from '@troupe/testing/machine/needs';

const isRoot = process.getuid?.() === 0;
const LIMITS = { memoryMb: 200, processes: 64, fileMb: 1024, tmpMb: 64, shmMb: 64 };
const shared = (megabytes: number): string =>
  `python3 -c "import mmap,time
m=mmap.mmap(-1,${megabytes}<<20)
for i in range(0,${megabytes}<<20,4096): m[i]=1
time.sleep(8)
print('END')"`;

describe('a command', { skip: needs('bubblewrap') }, () => {
  let folder: string;
  let workspace: Workspace;
  const pool = createWorkerPool();
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'troupe-bounds-'));
    workspace = await makeWorkspace(path.join(folder, 'workspace'), { pool, owner: 'test' });
  });
  after(async () => {
    await pool.close();
    await rm(folder, { recursive: true, force: true });
  });
  const sh = (cmd: string, sandbox: Sandbox = createSandbox({ limits: LIMITS })) =>
    sandbox.run({
      argv: ['/bin/sh', '-c', cmd],
      workspace,
      timeoutMs: 60_000,
      signal: new AbortController().signal,
    });

  test('gets no more of /dev/shm and /tmp than their size, and nothing of the rest', async () => {
    const { output } = await sh(
      'head -c 100M /dev/zero > /dev/shm/a; head -c 100M /dev/zero > /tmp/a; stat -c %s /dev/shm/a /tmp/a; for i in / /dev /etc /opt; do touch $i/x; done; true',
    );
    assert.equal(output.match(/No space left on device/g)?.length, 2, output);
    assert.deepEqual(output.match(/^\d+$/gm)?.map(Number), [64 << 20, 64 << 20]);
    assert.equal(output.match(/Read-only file system/g)?.length, 4, output);
  });

  test('that maps shared memory beyond its bound is ended, in the kernel and by the watcher alone', async () => {
    assert.match((await sh(shared(150))).output, /END/);
    assert.equal((await sh(shared(400))).stopped, 'it used more than 200 MB of memory');
    const watcher = createSandbox({ limits: LIMITS, groups: path.join(folder, 'nowhere') });
    assert.equal((await sh(shared(400), watcher)).stopped, 'it used more than 200 MB of memory');
  });

  test('leaves files that nobody else may read, in a workspace that nobody else may enter', async () => {
    await sh('mkdir -p d && echo x > d/f');
    await workspace.write('made/by/the-platform.txt', 'x');
    const modes = await Promise.all(
      ['.', 'd', 'd/f', 'made', 'made/by/the-platform.txt'].map(
        async (name) => (await stat(path.join(workspace.root, name))).mode & 0o777,
      ),
    );
    assert.deepEqual(modes, [0o700, 0o700, 0o600, 0o700, 0o600]);
    assert.equal((await sh('cat made/by/the-platform.txt && echo more >> made/by/the-platform.txt')).code, 0);
    assert.equal(await workspace.read('made/by/the-platform.txt'), 'x\nmore\n'.replace('x\n', 'x'));
  });

  test('has no rights of root outside', { skip: !isRoot && 'needs root' }, async () => {
    // Readable by root alone, and below a folder that it sees.
    const secret = '/usr/share/troupe-secret-of-a-test';
    await writeFile(secret, 'secret', { mode: 0o600 });
    try {
      const { output } = await sh(`cat ${secret}; ls -A /etc/ssl; ls /etc/ssl/private; touch whose`);
      assert.match(output, /Permission denied/);
      assert.doesNotMatch(output, /^secret/m);
      assert.doesNotMatch(output, /private\n/);
      assert.equal((await stat(path.join(workspace.root, 'whose'))).uid, 60_777);
    } finally {
      await rm(secret);
    }
  });

  test(
    'works in a workspace that root made earlier, below a folder of root alone',
    { skip: !isRoot && 'needs root' },
    async () => {
      const old = path.join(folder, 'closed/workspace');
      await mkdir(path.join(old, 'd'), { recursive: true });
      await writeFile(path.join(old, 'd/f'), 'old');
      for (const name of [old, path.join(old, 'd'), path.join(old, 'd/f')]) await chown(name, 0, 0);
      execFileSync('ln', ['-s', '/etc/passwd', path.join(old, 'link')]);
      await chmod(path.join(folder, 'closed'), 0o700);
      const before = await stat('/etc/passwd');
      const { output, code } = await createSandbox().run({
        argv: ['/bin/sh', '-c', 'cat d/f && echo new >> d/f && cat d/f'],
        workspace: { ...workspace, root: old },
        timeoutMs: 60_000,
        signal: new AbortController().signal,
      });
      assert.deepEqual([output, code], ['oldoldnew\n', 0]);
      assert.equal((await stat('/etc/passwd')).uid, before.uid);
      assert.equal((await stat(old)).mode & 0o777, 0o700);
    },
  );
});
