import assert from 'node:assert/strict';
import { fork, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { createLog, silentLog, StartError } from '@troupe/kernel';
import { startEmbedded } from './embedded.ts';
import type { Embedded } from './embedded.ts';
import { processMark } from './lock.ts';

const asRoot = process.getuid?.() === 0;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-embedded-'));
  await chmod(folder, 0o755);
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function start(dataDir: string, options: Partial<Parameters<typeof startEmbedded>[0]> = {}): Promise<Embedded> {
  const server = await startEmbedded({ dataDir, log: silentLog, ...options });
  cleanups.push(() => server.stop());
  return server;
}

/** A program of its own that starts a server there, so that it can be killed. */
async function startElsewhere(
  dataDir: string,
  env: Record<string, string> = {},
  options: Partial<Parameters<typeof startEmbedded>[0]> = {},
): Promise<ChildProcess & { server: { url: string; pid: number } }> {
  const program = `
    const { startEmbedded } = await import(${JSON.stringify(join(import.meta.dirname, 'embedded.ts'))});
    const { silentLog } = await import('@troupe/kernel');
    const server = await startEmbedded({ dataDir: ${JSON.stringify(dataDir)}, log: silentLog, ...${JSON.stringify(options)} });
    process.send({ url: server.url, pid: server.pid() });`;
  const file = join(await newFolder(), 'program.mjs');
  await writeFile(file, program.replace("'@troupe/kernel'", JSON.stringify(import.meta.resolve('@troupe/kernel'))));
  const child = fork(file, [], { env: { ...process.env, ...env }, stdio: 'ignore' });
  cleanups.push(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit').then(() => Promise.reject(new Error('the program ended')));
  const [server] = (await Promise.race([once(child, 'message'), exited])) as [{ url: string; pid: number }];
  exited.catch(() => {});
  cleanups.push(async () => {
    child.kill('SIGKILL');
    // It still writes when its parent is dead, and its folder goes next.
    if (await alive(server.pid)) spawnSync('kill', ['-QUIT', String(server.pid)]);
    while (await alive(server.pid)) await delay(20);
  });
  return Object.assign(child, { server });
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    const result = await client.query<Record<string, unknown>>(text);
    return Array.isArray(result) ? [] : result.rows.map((row) => Object.values(row)[0]);
  } finally {
    await client.end();
  }
}

const alive = async (pid: number): Promise<boolean> => (await processMark(pid)) !== undefined;

const sentence = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof StartError, String(error));
  assert.match(error.message, pattern);
  assert.doesNotMatch(error.message, /\n/);
  return true;
};

describe('a server', () => {
  test('starts on a private socket, keeps its data, stops with everything', async () => {
    const folder = await newFolder();
    const first = await startEmbedded({ dataDir: folder, log: silentLog });
    assert.deepEqual(
      await query(first.url, 'select version()').then(([version]) => /PostgreSQL 18/.test(String(version))),
      true,
    );
    assert.deepEqual(await query(first.url, 'show listen_addresses'), ['']);
    assert.deepEqual(await query(first.url, 'show fsync'), ['on']);
    assert.deepEqual(await query(first.url, 'select rolsuper from pg_roles where rolname = current_user'), [false]);
    const sockets = new URL(first.url).searchParams.get('host') ?? '';
    assert.equal((await stat(sockets)).mode & 0o777, 0o700);
    await query(first.url, 'create table kept (id int); insert into kept values (7)');
    const pid = first.pid();
    await first.stop();
    assert.equal(await alive(pid), false);
    assert.deepEqual(await readdir(folder), ['postgres']);
    const second = await start(folder);
    assert.deepEqual(await query(second.url, 'select id from kept'), [7]);
  });

  test('sorts and folds text beyond ASCII', async () => {
    const { url } = await start(await newFolder(), { throwaway: true });
    assert.deepEqual(await query(url, `select lower('ÄÖ') || upper('é')`), ['äöÉ']);
  });

  test('works in a folder whose path is too long for a socket', async () => {
    const folder = join(await newFolder(), 'long'.repeat(30));
    const { url } = await start(folder, { throwaway: true });
    assert.deepEqual(await query(url, 'select 1'), [1]);
  });

  test('a second start on the same folder is refused, the first goes on', async () => {
    const folder = await newFolder();
    const { url } = await start(folder, { throwaway: true });
    await assert.rejects(
      startEmbedded({ dataDir: folder, log: silentLog }),
      sentence(/already runs on .* \(process \d+\)/),
    );
    assert.deepEqual(await query(url, 'select 1'), [1]);
  });

  test('two first starts at once: one wins', async () => {
    const folder = await newFolder();
    const outcomes = await Promise.allSettled([startElsewhere(folder), startElsewhere(folder)]);
    const won = outcomes.filter(({ status }) => status === 'fulfilled');
    assert.equal(won.length, 1);
  });
});

describe('recovery', () => {
  test('a server that is killed comes back by itself at the same place', async () => {
    const server = await start(await newFolder());
    await query(server.url, 'create table kept (id int); insert into kept values (7)');
    const pid = server.pid();
    process.kill(pid, 'SIGKILL');
    for (;;) {
      const rows = await query(server.url, 'select id from kept').catch(() => undefined);
      if (!rows || server.pid() === pid) continue;
      assert.deepEqual(rows, [7]);
      break;
    }
  });

  for (const [name, env] of [
    ['the parent is killed', {}],
    ['the parent is killed where nothing stops its server', { PATH: '/nowhere' }],
  ] as const) {
    test(`${name}: the next start has every committed row`, async () => {
      const folder = await newFolder();
      const parent = await startElsewhere(folder, env);
      await query(parent.server.url, 'create table kept (id int); insert into kept values (7)');
      await kill(parent);
      if ('PATH' in env) assert.equal(await alive(parent.server.pid), true, 'the server was left behind');
      const next = await start(folder);
      assert.equal(await alive(parent.server.pid), false);
      assert.deepEqual(await query(next.url, 'select id from kept'), [7]);
    });
  }

  test('a server that outlives its parent is found again, and watched and stopped like an own one', async () => {
    const folder = await newFolder();
    const parent = await startElsewhere(folder, {}, { outlives: true });
    const { pid, url } = parent.server;
    await query(url, 'create table kept (id int); insert into kept values (7)');
    await kill(parent);
    assert.equal(await alive(pid), true);

    const next = await startEmbedded({ dataDir: folder, log: silentLog, outlives: true });
    assert.deepEqual([next.pid(), next.url], [pid, url]);
    process.kill(pid, 'SIGKILL');
    for (;;) {
      const rows = await query(url, 'select id from kept').catch(() => undefined);
      if (!rows || next.pid() === pid) continue;
      assert.deepEqual(rows, [7]);
      break;
    }
    await next.leave();
    const third = await startEmbedded({ dataDir: folder, log: silentLog, outlives: true });
    assert.equal(third.pid(), next.pid());
    await third.stop();
    assert.equal(await alive(third.pid()), false);
    assert.deepEqual(await readdir(folder), ['postgres']);
  });

  test('a server with other settings than ours is not kept', async () => {
    const folder = await newFolder();
    const parent = await startElsewhere(folder, {}, { outlives: true, throwaway: true });
    await kill(parent);
    const next = await start(folder, { outlives: true });
    assert.notEqual(next.pid(), parent.server.pid);
    assert.deepEqual(await query(next.url, 'show fsync'), ['on']);
  });

  test('parent and server are killed at once: the next start recovers', async () => {
    const folder = await newFolder();
    const parent = await startElsewhere(folder);
    await query(parent.server.url, 'create table kept (id int); insert into kept values (7)');
    process.kill(parent.server.pid, 'SIGKILL');
    await kill(parent);
    const next = await start(folder);
    assert.deepEqual(await query(next.url, 'select id from kept'), [7]);
  });

  test('a first start that is killed half-way leaves nothing in the way', async () => {
    const folder = await newFolder();
    await mkdir(join(folder, 'postgres.new'));
    await writeFile(join(folder, 'postgres.new', 'PG_VERSION'), '18\n');
    await writeFile(join(folder, 'postgres.lock'), '999999 123\n');
    const { url } = await start(folder, { throwaway: true });
    assert.deepEqual(await query(url, 'select 1'), [1]);
  });

  test('a process that got the number of the old server is left alone', async () => {
    const folder = await newFolder();
    await startEmbedded({ dataDir: folder, log: silentLog, throwaway: true }).then((server) => server.stop());
    await writeFile(join(folder, 'postgres', 'postmaster.pid'), `${process.ppid}\n${join(folder, 'postgres')}\n`);
    const { url } = await start(folder, { throwaway: true });
    assert.deepEqual(await query(url, 'select 1'), [1]);
  });
});

describe('a folder that cannot be used says what to do', () => {
  test('made by another major version', async () => {
    const folder = await newFolder();
    await mkdir(join(folder, 'postgres'));
    await writeFile(join(folder, 'postgres', 'PG_VERSION'), '16\n');
    await assert.rejects(
      startEmbedded({ dataDir: folder, log: silentLog }),
      sentence(/made by PostgreSQL 16 .* runs 18: dump it/),
    );
    assert.equal(await readFile(join(folder, 'postgres', 'PG_VERSION'), 'utf8'), '16\n');
  });

  test('damaged: no version, no control file', async () => {
    const folder = await newFolder();
    await startEmbedded({ dataDir: folder, log: silentLog, throwaway: true }).then((server) => server.stop());
    await rm(join(folder, 'postgres', 'global', 'pg_control'));
    await assert.rejects(
      startEmbedded({ dataDir: folder, log: silentLog }),
      sentence(/is damaged \(.*pg_control.*\): restore/),
    );
    await rm(join(folder, 'postgres', 'PG_VERSION'));
    await assert.rejects(
      startEmbedded({ dataDir: folder, log: silentLog }),
      sentence(/is damaged \(PG_VERSION is missing\)/),
    );
  });

  test('a file in its place', async () => {
    const file = join(await newFolder(), 'file');
    await writeFile(file, '');
    await assert.rejects(
      startEmbedded({ dataDir: file, log: silentLog }),
      sentence(/cannot be made .*: set another DATA_DIR/),
    );
  });

  test('on a full disk', async (t) => {
    const folder = await newFolder();
    const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=20m', 'tmpfs', folder]);
    if (mount.status !== 0) return t.skip('only root may mount a small disk');
    cleanups.push(() => spawnSync('umount', [folder]));
    await assert.rejects(startEmbedded({ dataDir: folder, log: silentLog }), sentence(/is full: free at least 120 MB/));
  });
});

describe('started by root', { skip: !asRoot }, () => {
  test('the server runs as another user, who owns its folder', async () => {
    const folder = await newFolder();
    await chmod(folder, 0o700);
    const server = await start(folder, { throwaway: true });
    const status = await readFile(`/proc/${server.pid()}/status`, 'utf8');
    const uid = Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]);
    assert.notEqual(uid, 0);
    assert.equal((await stat(server.folder)).uid, uid);
    assert.equal((await stat(folder)).mode & 0o777, 0o711, 'it may pass through, not look around');
  });

  test('a chosen folder that this user cannot enter is refused', async () => {
    const closed = await newFolder();
    await chmod(closed, 0o700);
    await assert.rejects(
      startEmbedded({ dataDir: join(closed, 'data'), log: silentLog }),
      sentence(new RegExp(`cannot enter ${closed}: choose a DATA_DIR`)),
    );
  });

  test('the default folder in a closed place moves to one for all', async () => {
    const closed = await newFolder();
    await chmod(closed, 0o700);
    const server = await start(join(closed, '.data'), { explicit: false, throwaway: true });
    assert.match(server.folder, /^\/var\/lib\/troupe\/[0-9a-f]{16}\/postgres$/);
    cleanups.unshift(() => rm(join(server.folder, '..'), { recursive: true, force: true }));
    assert.deepEqual(await query(server.url, 'select 1'), [1]);
  });
});

test('the log has the words of the server', async () => {
  const lines: string[] = [];
  const log = createLog({ level: 'debug', service: 'test', destination: { write: (line) => void lines.push(line) } });
  await start(await newFolder(), { throwaway: true, log });
  assert.ok(lines.some((line) => line.includes('ready to accept connections')));
});
