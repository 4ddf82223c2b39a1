import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createWorkerPool } from '@troupe/kernel';
import { needs } from '@troupe/testing/machine/needs';
import { createSandbox } from '../sandbox/sandbox.ts';
import { createWorkspace } from '../workspace/workspace.ts';
import { backgroundJobTools } from './background-jobs.ts';
import { codeTools } from './code.ts';
import { commandRunner } from './shell.ts';
import { call } from './testing.ts';
import { createHeld } from './tool.ts';

const root = await mkdtemp(path.join(tmpdir(), 'agent-code-'));
const pool = createWorkerPool();
const workspace = createWorkspace(root, { pool, owner: 'user' });
const sandbox = createSandbox();
after(async () => {
  await pool.close();
  await rm(root, { recursive: true, force: true });
});
const deps = { run: commandRunner(workspace, sandbox), workspace: async () => workspace, pool, owner: 'user' };
const code = (language: string, text: string, more: { pythons?: string[]; timeout?: number } = {}) =>
  call(codeTools({ ...deps, ...more }), 'run_code', { language, code: text, timeout: more.timeout ?? 30 });

/** A picture of one point. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('run_code', { skip: needs('bubblewrap') }, () => {
  test('runs JavaScript, both ways to write it, in the workspace', async () => {
    const old = `require('fs').writeFileSync('a.txt', 'it\\'s "here" $HOME'); console.log(process.cwd(), 1 + 1)`;
    assert.deepEqual(await code('javascript', old), { content: '/workspace 2\n' });
    const now = `import { readFileSync } from 'node:fs'; console.log(await Promise.resolve(readFileSync('a.txt', 'utf8')));`;
    assert.deepEqual(await code('javascript', now), { content: `it's "here" $HOME\n` });
  });

  test('runs Python', async () => {
    const said = await code('python', 'import os\nprint(os.getcwd(), sum(range(5)))');
    assert.deepEqual(said, { content: '/workspace 10\n' });
  });

  test('what fails is told with what was printed', async () => {
    const thrown = await code('javascript', 'console.log("first"); throw new Error("broken")');
    assert.equal(thrown.isError, true);
    assert.match(thrown.content, /first[\s\S]*broken[\s\S]*\[exit code 1\]/);
    const slow = await code('javascript', 'setInterval(() => {}, 1000)', { timeout: 1 });
    assert.match(slow.content, /stopped: it took longer than 1 s/);
    assert.match((await code('javascript', 'é'.repeat(60_000))).content, /more than 100 KB/);
    assert.match((await code('javascript', '"\0"')).content, /NUL/);
  });

  test('pictures that it writes are shown, older ones and others are not', async () => {
    const write = (name: string) =>
      `require('fs').writeFileSync(${JSON.stringify(name)}, Buffer.from('${PNG}', 'base64'))`;
    await code('javascript', write('old.png'));
    await delay(100);
    const { pictures } = await code(
      'javascript',
      `require('fs').mkdirSync('out', { recursive: true }); ${write('out/new.png')}; require('fs').writeFileSync('x.txt', '')`,
    );
    assert.deepEqual(pictures, [{ path: 'out/new.png', kind: 'picture', mime: 'image/png', bytes: 70 }]);
  });

  test('without Python it is off, and says so', async () => {
    assert.deepEqual(await code('python', 'print(1)', { pythons: ['/nowhere/python3'] }), {
      content: 'Python is off: it is not installed here. Use JavaScript.',
      isError: true,
    });
  });
});

describe('background jobs', { skip: needs('bubblewrap') }, () => {
  const tools = backgroundJobTools(workspace, sandbox);
  const run = () => {
    const held = createHeld();
    const use = (name: string, args = {}) => call(tools, name, args, { held });
    const until = async (id: string, sign: RegExp): Promise<string> => {
      for (;;) {
        const { content } = await use('view_background_job', { id });
        if (sign.test(content)) return content;
        await delay(50);
      }
    };
    return { held, use, until };
  };

  test('go on between calls, and are read from the end', async () => {
    const { held, use, until } = run();
    const started = await use('run_background_job', { cmd: 'echo begun; read x < go; echo "then $x"; seq 100000' });
    assert.match(started.content, /Started as job1\. It is ended after 10 minutes/);
    await until('job1', /begun/);
    assert.match((await use('list_background_jobs')).content, /^job1 \(running for \d+ s\): echo begun/);
    await use('stop_background_job', { id: 'job1' });
    const next = await use('run_background_job', { cmd: 'seq 100000; echo last' });
    assert.match(next.content, /job2/);
    const read = await until('job2', /ended with code 0/);
    assert.match(read, /100000\nlast\n$/);
    assert.ok(read.length < 9_000);
    await held.drop();
  });

  test('end when they are stopped, with the run, and are bounded in number', async () => {
    const { held, use, until } = run();
    for (const _ of [1, 2, 3]) await use('run_background_job', { cmd: 'echo up; sleep 5151' });
    const more = await use('run_background_job', { cmd: 'sleep 5151' });
    assert.match(more.content, /At most 3 jobs run at once/);
    await until('job1', /up/);
    assert.match((await use('stop_background_job', { id: 'job1' })).content, /^job1 \(stopped: you stopped it\)/);
    assert.match(
      (await use('view_background_job', { id: 'job9' })).content,
      /There is no job job9\. Jobs: job1, job2, job3/,
    );
    const seats = () => sandbox.seats.job.take('user');
    await held.drop();
    const free = Array.from({ length: 6 }, seats);
    assert.ok(free.every(Boolean), 'what it held is given back');
    const full = await run().use('run_background_job', { cmd: 'true' });
    assert.match(full.content, /Too many commands run in the background already/);
    for (const give of free) give?.();
  });
});

test('without a sandbox background jobs say that they are off', async () => {
  const none = backgroundJobTools(workspace, createSandbox({ bwrap: '/nowhere/bwrap' }));
  const said = await call(none, 'run_background_job', { cmd: 'true' });
  assert.match(said.content, /^Background jobs are off: there is no sandbox/);
});
