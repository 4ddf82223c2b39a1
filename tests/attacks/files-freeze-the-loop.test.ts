import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Reply } from '@troupe/testing/services/people';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

// A file name, a pattern and a text, each chosen by a model, froze all services: matching and searching ran on the loop.
let scene: Scene;
// the test puts files there itself
before(async () => (scene = await startScene({ BLOB_STORE: 'folder' })));
after(() => scene.stop());

const write = (path: string, content: string) => ({ tool: 'write_file', args: { path, content } });
const reply = (answer: Reply): string => answer.body.reply;

test('a pattern that is made to be slow', async () => {
  const find = (pattern: string) => ({ tool: 'search_files', args: { pattern } });
  assert.equal((await scene.attacker.chat(write(`${'a'.repeat(55)}!`, 'x'))).status, 200);
  await scene.unharmed(async () => {
    assert.equal(reply(await scene.attacker.chat(find(`${'*a'.repeat(12)}b`))), 'Nothing was found.');
    assert.match(reply(await scene.attacker.chat(find('{a,b}'.repeat(15)))), /more than 100 others/);
  });
});

test('a text that almost occurs everywhere', async () => {
  const oldText = `${'a'.repeat(2500)}b${'a'.repeat(2500)}`;
  await scene.unharmed(async () => {
    await writeFile(path.join(scene.dataDir, 'workspaces', scene.attacker.agentId, 'long.txt'), 'a'.repeat(5_000_000));
    const edit = { tool: 'edit_file', args: { path: 'long.txt', edits: [{ oldText, newText: 'c' }] } };
    assert.match(
      reply(await scene.attacker.chat(edit)),
      /took more than 5 s to compute and was stopped|occurs 0 times/,
    );
  });
});
