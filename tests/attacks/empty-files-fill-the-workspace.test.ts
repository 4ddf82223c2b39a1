import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { createSandbox } from '@troupe/agent';
import type { Reply } from '@troupe/testing/services/people';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

// 400,000 empty files cost no quota, and measuring or listing them took 2 GB and 12 s of the loop.
const skip = await createSandbox().unavailable();
let scene: Scene;
let folder: string;
before(async () => {
  if (skip !== undefined) return;
  // the test looks at the files themselves
  scene = await startScene({ BLOB_STORE: 'folder' });
  folder = path.join(scene.dataDir, 'workspaces', scene.attacker.agentId);
  await scene.attacker.chat({ tool: 'list_directory', args: {} });
});
after(async () => {
  if (skip !== undefined) return;
  // Node itself cannot remove what is deeper than a path.
  execFileSync('rm', ['-rf', path.join(scene.dataDir, 'workspaces')]);
  await scene.stop();
});

const reply = (answer: Reply): string => answer.body.reply;
const MANY = 'i=0; while [ $i -lt 400 ]; do mkdir -p d; (cd d && seq -f "$i-%g" 1000 | xargs touch); i=$((i+1)); done';

test('a command that makes them is stopped at 100,000, and nothing of it is felt by others', { skip }, async () => {
  const before = scene.memory();
  await scene.unharmed(async () => {
    const answer = reply(await scene.attacker.chat({ tool: 'shell', args: { cmd: MANY, timeout: 120 } }));
    assert.match(answer, /stopped: the workspace is full \(100000 files and folders\)/);
  });
  assert.ok((await readdir(path.join(folder, 'd'))).length > 100_000);
  await scene.unharmed(async () => {
    for (const [tool, args] of [
      ['list_directory', { path: 'd' }],
      ['directory_tree', {}],
      ['search_files', { pattern: '*nothing*' }],
    ] as const)
      assert.equal((await scene.attacker.chat({ tool, args })).status, 200);
    const write = { tool: 'write_file', args: { path: 'x', content: 'x' } };
    assert.match(reply(await scene.attacker.chat(write)), /The workspace is full \(100000 files and folders\)/);
  });
  assert.ok(scene.memory() - before < 300, `${Math.round(scene.memory() - before)} MB more`);
});

test('folders that nobody can measure are no place to hide', { skip }, async () => {
  const other = await scene.person();
  const workspace = path.join(scene.dataDir, 'workspaces', other.agentId);
  await mkdir(workspace, { recursive: true });
  // Deeper than a path can say.
  const cmd = 'n=$(printf "%0200d" 0); i=0; while [ $i -lt 30 ]; do mkdir $n && cd $n; i=$((i+1)); done; sleep 30';
  const answer = reply(await other.chat({ tool: 'shell', args: { cmd, timeout: 60 } }));
  assert.match(answer, /stopped: the workspace has folders that are closed or too deep/);
});
