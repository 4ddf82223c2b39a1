import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A container engine of a test's own, which it may stop and start. */
export interface OwnDocker {
  host: string;
  start: () => Promise<void>;
  stop: () => Promise<void>;
  /** Stops it and removes everything that it kept. */
  close: () => Promise<void>;
}

const START_TRIES = 300;

let swarms = 0;

/** `swarm`: it manages one, in which it is alone. */
export async function ownDocker({ swarm = false } = {}): Promise<OwnDocker> {
  const folder = await mkdtemp(path.join(tmpdir(), 'troupe-docker-'));
  const socket = path.join(folder, 'docker.sock');
  const driver = await storageDriver(folder);
  let engine: ChildProcess | undefined;

  const answers = (): Promise<boolean> =>
    new Promise((resolve) => {
      http
        .get({ socketPath: socket, path: '/_ping', timeout: 2000 }, (response) => {
          response.resume();
          resolve(response.statusCode === 200);
        })
        .on('error', () => resolve(false));
    });

  async function start(): Promise<void> {
    engine = spawn(
      'dockerd',
      [
        `--storage-driver=${driver}`,
        '--iptables=false',
        '--ip6tables=false',
        '--bridge=none',
        `--host=unix://${socket}`,
        `--data-root=${path.join(folder, 'data')}`,
        `--exec-root=${path.join(folder, 'run')}`,
        `--pidfile=${path.join(folder, 'pid')}`,
      ],
      { stdio: 'ignore' },
    );
    for (let tries = 0; !(await answers()); tries += 1) {
      if (tries > START_TRIES || engine.exitCode !== null) throw new Error('dockerd did not start');
      await delay(100);
    }
  }

  async function stop(): Promise<void> {
    if (!engine || engine.exitCode !== null) return;
    const ended = once(engine, 'exit');
    engine.kill('SIGTERM');
    await ended;
  }

  await start();
  if (swarm) await post(socket, '/swarm/init', ownAddress());
  return {
    host: `unix://${socket}`,
    start,
    stop,
    async close() {
      await stop();
      // The engine leaves mounts behind, and a mount cannot be removed.
      const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1] ?? '');
      for (const at of mounts.filter((one) => one.startsWith(`${folder}/`)).toReversed())
        spawnSync('umount', [at], { stdio: 'ignore' });
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Layers that lie over each other, where the file system can do that; else every layer and container is a copy of all below. */
export async function storageDriver(folder: string): Promise<'overlay2' | 'vfs'> {
  const at = (name: string): string => path.join(folder, 'layers', name);
  for (const name of ['lower', 'upper', 'work', 'merged']) await mkdir(at(name), { recursive: true });
  const layers = `lowerdir=${at('lower')},upperdir=${at('upper')},workdir=${at('work')}`;
  const mounted = spawnSync('mount', ['-t', 'overlay', 'overlay', '-o', layers, at('merged')], { stdio: 'ignore' });
  if (mounted.status !== 0) return 'vfs';
  spawnSync('umount', [at('merged')], { stdio: 'ignore' });
  return 'overlay2';
}

/** A swarm's ports are fixed, so each has a loopback address of its own. */
function ownAddress() {
  const address = `127.77.${process.pid % 250}.${1 + (swarms += 1)}`;
  return { ListenAddr: `${address}:2377`, AdvertiseAddr: address };
}

async function post(socketPath: string, at: string, body: object): Promise<void> {
  const request = http.request({
    socketPath,
    path: at,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  request.end(JSON.stringify(body));
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  let text = '';
  for await (const piece of response) text += String(piece);
  if (response.statusCode !== 200) throw new Error(`${at}: ${text}`);
}
