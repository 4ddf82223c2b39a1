import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { createJail, OutsideWorkspace } from './jail.ts';

test('no path leads out of a workspace, by one step or by many', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'troupe-jail-'));
  const { within } = createJail(folder);
  for (const outside of ['..', '../', '../x', 'a/../../x', '../../x', '/etc/passwd', './../b/secret', '../../../etc'])
    await assert.rejects(
      within(outside, async () => assert.fail('it was let out')),
      OutsideWorkspace,
      outside,
    );
  assert.equal(await within('a/../b', async ({ name }) => name), 'b');
  await rm(folder, { recursive: true });
});
