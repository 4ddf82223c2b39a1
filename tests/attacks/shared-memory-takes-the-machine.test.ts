import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createSandbox } from '@troupe/agent';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

// A command took 2.8 GB in /dev/shm, and 2.5 GB that it shared with itself; neither was noticed. What it gets is in sandbox-bounds.
const skip = await createSandbox().unavailable();
let scene: Scene;
before(async () => {
  if (skip === undefined) scene = await startScene();
});
after(() => scene?.stop());

const FILLS = 'head -c 2800M /dev/zero > /dev/shm/a; stat -c %s /dev/shm/a';
const MAPS = `python3 -c "import mmap,time
m=mmap.mmap(-1,2500<<20)
for i in range(0,2500<<20,4096): m[i]=1
time.sleep(8)
print('END')"`;

test('others are served while a command takes shared memory, as files and as a map', { skip }, async () => {
  await scene.unharmed(async () => {
    const filled = await scene.attacker.chat({ tool: 'shell', args: { cmd: FILLS } });
    assert.match(filled.body.reply, /No space left on device/);
    assert.match(filled.body.reply, /^67108864$/m);
    const mapped = await scene.attacker.chat({ tool: 'shell', args: { cmd: MAPS } });
    assert.match(mapped.body.reply, /it used more than 1024 MB of memory/);
    assert.doesNotMatch(mapped.body.reply, /END/);
  });
});
