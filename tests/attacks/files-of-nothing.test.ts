import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createSandbox } from '@troupe/agent';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/**
 * Two thousand files of 200 MB that hold nothing take eight megabytes of a disk. To keep them, all 400 GB of nothing were
 * read before anybody asked how much that is.
 */
const skip = await createSandbox().unavailable();
let scene: Scene;
before(async () => {
  if (skip === undefined) scene = await startScene({ BLOB_STORE: 'postgres' });
});
after(async () => {
  if (skip === undefined) await scene.stop();
});

const MAKE = 'for i in $(seq 1 2000); do truncate -s 200M f$i; done; ls | wc -l';

test('files that hold nothing are refused by their size, and read by nobody', { skip, timeout: 120_000 }, async () => {
  const { attacker } = scene;
  const shell = (cmd: string) => attacker.chat({ tool: 'shell', args: { cmd, timeout: 60 } });
  await scene.unharmed(async () => {
    const began = performance.now();
    assert.match(String((await shell(MAKE)).body.reply), /Not kept: the files are larger, or more, than can be/);
    assert.ok(performance.now() - began < 30_000);
  });
  assert.doesNotMatch(String((await shell('rm -f f*; echo small > kept.txt')).body.reply), /Not kept/);
  assert.match(String((await shell('cat kept.txt')).body.reply), /small/);
});
