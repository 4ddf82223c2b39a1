import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, chown, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findBinaries, serverOwner } from '@troupe/db';
import pg from 'pg';
import { freePorts } from '../processes/program.ts';

/** A primary and a standby that has every commit before it is answered (streaming replication, synchronous). */
export interface Pair {
  /** Names both. */
  url: string;
  /** Kills the primary with -9. */
  kill: () => Promise<void>;
  /** Makes the standby the primary, as a manager of fail-overs does. */
  promote: () => Promise<void>;
  stop: () => Promise<void>;
}

const ENV = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

export async function startPair(): Promise<Pair> {
  const folder = await mkdtemp(path.join(tmpdir(), 'troupe-pair-'));
  await chmod(folder, 0o755);
  const owner = await serverOwner(folder);
  const { initdb, postgres } = await findBinaries(owner);
  const [first, second] = [path.join(folder, 'first'), path.join(folder, 'second')];
  const [firstPort, secondPort] = (await freePorts(2)) as [number, number];
  await mkdir(first, { mode: 0o700 });
  if (owner) await chown(first, owner.uid, owner.gid);
  const made = ['-D', first, '--encoding=UTF8', '--locale=C', '--auth=trust', '--username=postgres', '--no-sync'];
  await promisify(execFile)(initdb, made, { cwd: '/', env: ENV, ...owner });
  // The copy of a server that has never run is its standby from its first moment on.
  await cp(first, second, { recursive: true });
  await writeFile(path.join(second, 'standby.signal'), '');
  const source = `host=127.0.0.1 port=${firstPort} user=postgres application_name=standby`;
  await appendFile(path.join(second, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
  await own(second, owner);

  const start = (data: string, port: number, ...more: string[]): ChildProcess => {
    const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', ...more];
    const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
    return spawn(postgres, args, { cwd: '/', env: ENV, stdio: 'ignore', detached: true, ...owner });
  };
  const primary = start(first, firstPort, 'synchronous_standby_names=standby');
  const standby = start(second, secondPort);
  await asked(firstPort, `create role troupe login createdb createrole`);
  await asked(firstPort, 'create database troupe owner troupe');

  const end = async (server: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill(signal);
    await once(server, 'exit');
  };
  return {
    url: `postgresql://troupe@127.0.0.1:${firstPort},127.0.0.1:${secondPort}/troupe?target_session_attrs=read-write`,
    kill: () => end(primary, 'SIGKILL'),
    promote: () => asked(secondPort, 'select pg_promote()'),
    async stop() {
      await Promise.all([end(primary, 'SIGQUIT'), end(standby, 'SIGQUIT')]);
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}

/** The copy of files is its copier's. */
async function own(folder: string, owner: { uid: number; gid: number } | undefined): Promise<void> {
  if (owner) await promisify(execFile)('chown', ['-R', `${owner.uid}:${owner.gid}`, folder]);
  await chmod(folder, 0o700);
}

/** Once the server is there. */
async function asked(port: number, query: string): Promise<void> {
  for (const deadline = Date.now() + 60_000; ;) {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query(query);
      return;
    } catch (error) {
      if (Date.now() > deadline || (error as { severity?: string }).severity === 'ERROR') throw error;
      await delay(100);
    } finally {
      await client.end().catch(() => {});
    }
  }
}
