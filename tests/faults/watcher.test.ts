import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive, ownSettings, processTree, startWatched, type Program } from '@troupe/testing/processes/program';

/** `npm start` watches its services: what dies comes back, the database stays, and in the end nothing is left. */

async function start(t: TestContext) {
  const { env, dataDir, remove } = await ownSettings();
  const program = startWatched(env);
  t.after(async () => {
    program.kill('SIGTERM');
    await program.exit;
    await remove();
  });
  const database = (): number =>
    Number(readFileSync(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);
  return { program, env, dataDir, database };
}

const commandOf = (pid: number): string => {
  const file = `/proc/${pid}/cmdline`;
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
};
const platformOf = ({ pid }: Program): number | undefined =>
  processTree(pid).find((one) => commandOf(one).includes('start.mjs'));

async function another(program: Program, old: number | undefined): Promise<number> {
  for (;;) {
    const pid = platformOf(program);
    if (pid !== undefined && pid !== old) return pid;
    await delay(5);
  }
}

async function healthy(env: Record<string, string>): Promise<void> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${env['WEB_PORT']}/api/health`).catch(() => undefined);
    if (answer?.status === 200) return;
    await delay(10);
  }
}

async function gone(pids: readonly number[]): Promise<void> {
  for (let tries = 0; tries < 400 && pids.some(isAlive); tries += 1) await delay(50);
  assert.deepEqual(
    pids.filter(isAlive).map((pid) => `${pid} ${commandOf(pid)}`),
    [],
  );
}

describe('a platform that dies', () => {
  test('is back at once, on the same database, and ends with everything when it is asked to', async (t) => {
    const { program, env, database } = await start(t);
    await program.ready;
    const [platform, server] = [platformOf(program)!, database()];
    const killed = performance.now();
    process.kill(platform, 'SIGKILL');
    const next = await another(program, platform);
    await healthy(env);
    const took = performance.now() - killed;
    t.diagnostic(`answered ${Math.round(took)} ms after kill -9`);
    // 2 s is the promise on a machine that has nothing else to do; bench/start.ts measures it
    assert.ok(took < 60_000, `${took} ms`);
    assert.match(program.output(), /Troupe ended \(with 137\): starting it again\./);
    assert.equal(database(), server, 'the database stayed');

    const pids = [...processTree(program.pid), server];
    program.kill('SIGINT');
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, { code: 0, signal: null }, program.output());
    await gone([...pids, next]);
  });

  test('again and again: it is started less often, and can still be ended', async (t) => {
    const { program } = await start(t);
    let platform: number | undefined;
    for (let crash = 0; crash < 5; crash += 1) {
      platform = await another(program, platform);
      process.kill(platform, 'SIGKILL');
    }
    while (!/ended 5 times within a minute .* again in 30 s/.test(program.output())) await delay(20);
    program.kill('SIGTERM');
    await program.exit;
    await gone(processTree(program.pid));
  });
});

test('a watcher that is killed leaves nothing behind', async (t) => {
  const { program, database } = await start(t);
  await program.ready;
  const pids = [...processTree(program.pid), database()];
  program.kill('SIGKILL');
  await program.exit;
  await gone(pids);
});

test('what cannot start is not tried again', async (t) => {
  const taken = createServer();
  const { program, env, dataDir } = await start(t);
  await new Promise<void>((resolve) => taken.listen(Number(env['WEB_PORT']), '127.0.0.1', resolve));
  t.after(() => taken.close());
  assert.equal((await program.exit).code, 1);
  assert.match(program.output(), /^Port \d+ on 127\.0\.0\.1 is in use/m);
  assert.doesNotMatch(program.output(), /again\.$/m);
  assert.equal(existsSync(path.join(dataDir, 'postgres/postmaster.pid')), false);
});

test('watching takes a few megabytes', async (t) => {
  const { program } = await start(t);
  await program.ready;
  const shells = processTree(program.pid).filter((pid) => commandOf(pid).includes('start.sh'));
  assert.equal(shells.length, 2);
  const megabytes = shells.map(
    (pid) => Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024,
  );
  const sum = megabytes.reduce((a, b) => a + b);
  t.diagnostic(`${sum.toFixed(1)} MB`);
  assert.ok(sum < 5, `${sum} MB`);
});
