import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { bundleProgram } from './program.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'program-'));
after(() => rm(folder, { recursive: true, force: true }));

test('a program in one file has its threads with it', async () => {
  const agent = path.resolve(import.meta.dirname, '../../agent/src');
  const kernel = path.resolve(import.meta.dirname, '../../kernel/src');
  const entry = path.join(folder, 'main.ts');
  await writeFile(
    entry,
    `import { createWorkerPool } from '${kernel}/workers/pool.ts';
    import { createWorkspace } from '${agent}/workspace/workspace.ts';
    const pool = createWorkerPool();
    const workspace = createWorkspace('${folder}', { pool, owner: 'user' });
    await workspace.write('found.txt', 'x');
    console.log(await workspace.look({ what: 'names', folder: '.', pattern: 'f*.txt' }));
    await pool.close();`,
  );
  const file = path.join(folder, 'program.mjs');
  await writeFile(file, await bundleProgram(rolldown, entry));
  const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: folder });
  assert.equal(stdout, 'found.txt\n');
});
