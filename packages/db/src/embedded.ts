import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { rm } from 'node:fs/promises';
import { StartError } from '@troupe/kernel';
import type { Log } from '@troupe/kernel';
import { urlOf } from './address.ts';
import { adopt, type Postmaster } from './adopt.ts';
import { findBinaries } from './binaries.ts';
import type { Binaries } from './binaries.ts';
import { explain, prepareCluster } from './cluster.ts';
import { stopLeftover } from './leftover.ts';
import { takeLock } from './lock.ts';
import type { Owner } from './owner.ts';
import { placeData, socketFolder } from './place.ts';

export interface EmbeddedOptions {
  /** DATA_DIR; the server's own folder is `postgres` in it. */
  dataDir: string;
  log: Log;
  /** Whether somebody chose dataDir. If not, and the server's user cannot enter it, the data go to /var/lib/troupe. */
  explicit?: boolean;
  /**
   * Somebody watches this process, starts it again when it dies and stops the server when all is over: the server lives
   * on meanwhile, and is found again.
   */
  outlives?: boolean;
  /** For tests: fast instead of durable, and the login may create databases. */
  throwaway?: boolean;
  /** The server ended by itself and could not be started again. */
  onLost?: (error: Error) => void;
}

export interface Embedded {
  /** Of a login that owns the database and is no superuser. */
  url: string;
  /** Where the data really are. */
  folder: string;
  /** Of the server's first process, for tests and figures. */
  pid: () => number;
  stop: () => Promise<void>;
  /** Lets go of a server that is to outlive us. */
  leave: () => Promise<void>;
}

interface Server {
  binaries: Binaries;
  folder: string;
  sockets: string;
  owner: Owner | undefined;
  throwaway: boolean;
  outlives: boolean;
  log: Log;
}

const PORT = 5432;
const STOP_MS = 8_000;
const RESTARTS = 5;

/** Small: the whole platform, this server included, is to idle below 200 MB. */
const SETTINGS = {
  listen_addresses: '',
  port: PORT,
  unix_socket_permissions: '0700',
  max_connections: 60,
  // Taken only as data fills it. With 32 MB a session check among 100,000 users was a third slower than among 100.
  shared_buffers: '256MB',
  work_mem: '4MB',
  maintenance_work_mem: '32MB',
  wal_buffers: '1MB',
  min_wal_size: '32MB',
  max_wal_size: '512MB',
  wal_level: 'minimal',
  max_wal_senders: 0,
  max_replication_slots: 0,
  max_logical_replication_workers: 0,
  max_worker_processes: 2,
  max_parallel_workers_per_gather: 0,
  autovacuum_max_workers: 1,
  io_method: 'sync',
  huge_pages: 'off',
  jit: 'off',
  random_page_cost: 1.1,
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  // LOG and worse; a failed statement is the caller's to report.
  log_min_messages: 'log',
  log_checkpoints: 'off',
};

const THROWAWAY_SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: 200 };

/** A PostgreSQL server of our own on a private socket, supervised until stop(). */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { log, throwaway = false, outlives = false } = options;
  const { folder, home, owner } = await placeData(options.dataDir, options.explicit ?? true);
  const unlock = await takeLock(
    join(home, 'postgres.lock'),
    (pid) => `Troupe already runs on ${home} (process ${pid}): stop it first, or set another DATA_DIR.`,
  );
  try {
    const binaries = await findBinaries(owner);
    const found = outlives
      ? await adopt(folder, binaries, (sockets) => argsOf({ folder, sockets, throwaway }))
      : undefined;
    if (found) log.info({ pid: found.postmaster.pid }, 'the database server still runs');
    else {
      await stopLeftover(folder, log);
      await prepareCluster({ binaries, home, folder, owner, throwaway });
    }
    const sockets = found?.sockets ?? (await socketFolder(home, owner));
    const server: Server = { binaries, folder, sockets, owner, throwaway, outlives, log };
    const supervisor = supervise(server, found?.postmaster ?? (await launch(server)), options.onLost);
    return {
      url: urlOf(PORT, sockets),
      folder,
      pid: supervisor.pid,
      leave: async () => {
        supervisor.leave();
        await unlock();
      },
      stop: async () => {
        await supervisor.stop();
        await rm(sockets, { recursive: true, force: true });
        await unlock();
      },
    };
  } catch (error) {
    await unlock();
    throw error;
  }
}

function supervise(server: Server, first: Postmaster, onLost?: (error: Error) => void) {
  let stopping = false;
  let running = first;
  let restarting: Promise<void> = Promise.resolve();

  const watch = (postmaster: Postmaster): void => {
    void postmaster.ended.then((why) => {
      if (stopping) return;
      server.log.error(why, 'the database server ended by itself, starting it again');
      restarting = restart();
    });
  };
  const restart = async (): Promise<void> => {
    for (let tries = 1; ; tries += 1) {
      if (stopping) return;
      try {
        running = await launch(server);
        return watch(running);
      } catch (error) {
        server.log.error({ err: error }, 'the database server did not start again');
        if (tries >= RESTARTS) return onLost?.(error as Error);
        await delay(200 * 2 ** tries);
      }
    }
  };
  watch(running);
  return {
    pid: () => running.pid,
    leave: () => {
      stopping = true;
    },
    stop: async () => {
      stopping = true;
      await restarting;
      await end(running);
    },
  };
}

/** Fast shutdown, then the immediate one: after that the next start recovers from the log. */
async function end({ ended, kill }: Postmaster): Promise<void> {
  kill('SIGINT');
  const timer = setTimeout(() => kill('SIGQUIT'), STOP_MS);
  await ended;
  clearTimeout(timer);
}

/** Orphaned backends of a killed server keep its shared memory for a moment. */
async function launch(server: Server): Promise<Postmaster> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await launchOnce(server);
    if (!('lines' in outcome)) return ofOurs(outcome);
    const text = outcome.lines.join('\n');
    if (!text.includes('shared memory block') || tries >= 20) throw explain(text, server.folder);
    await delay(250);
  }
}

function ofOurs(child: ChildProcess): Postmaster {
  const ended = new Promise<object>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve({ code: child.exitCode });
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  return { pid: child.pid ?? 0, ended, kill: (signal) => void child.kill(signal) };
}

function argsOf({ folder, sockets, throwaway }: Pick<Server, 'folder' | 'sockets' | 'throwaway'>): string[] {
  const settings = { ...SETTINGS, unix_socket_directories: sockets, ...(throwaway ? THROWAWAY_SETTINGS : {}) };
  return ['-D', folder, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

function launchOnce(server: Server) {
  const { binaries, owner, outlives, log } = server;
  const [command, ...rest] = [...(outlives ? [] : dieWithParent()), binaries.postgres, ...argsOf(server)];
  const child = spawn(command as string, rest, {
    // A group of its own: Ctrl-C reaches us alone, and we stop the server after its last client.
    detached: true,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    ...owner,
  });
  return new Promise<ChildProcess | { lines: string[] }>((resolve, reject) => {
    const lines: string[] = [];
    const reader = createInterface({ input: child.stderr as NonNullable<typeof child.stderr> });
    reader.on('line', (line) => {
      log.debug({ line }, 'postgres');
      lines.push(line);
      if (lines.length > 50) lines.shift();
      if (line.includes('ready to accept connections')) resolve(child);
    });
    child.once('error', (cause) => reject(new StartError(`PostgreSQL cannot be run: ${cause.message}.`, { cause })));
    child.once('close', () => resolve({ lines }));
  });
}

/** A killed parent cannot stop its server; where the system can, it does so in our place. */
function dieWithParent(): string[] {
  const prefix = ['setpriv', '--pdeathsig', 'INT'];
  return spawnSync('setpriv', [...prefix.slice(1), 'true']).status === 0 ? prefix : [];
}
