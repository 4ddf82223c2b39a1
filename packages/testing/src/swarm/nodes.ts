import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { dockerEngine } from '@troupe/fleet';
import { storageDriver } from '../containers/docker.ts';

/** Machines with a container engine each: a network, mounts and process ids of their own, and a wire between them. */

export type Engine = Awaited<ReturnType<typeof dockerEngine>>;

export interface Node {
  name: string;
  address: string;
  host: string;
  /** The first process in it: who kills that kills all of the node. */
  pid: number;
  engine: Engine;
  close: () => Promise<void>;
}

const run = promisify(execFile);
const START_TRIES = 600;
const POLL_MS = 100;

/** $1: the volume drivers of all nodes; $2: where it logs. The rest: its engine. */
const INSIDE = `
set -e
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
mkdir -p /run/docker/plugins
mount --bind "$1" /run/docker/plugins
ip link set lo up
log=$2
shift 2
"$@" >"$log" 2>&1 </dev/null &
wait`;

/** Ends with whoever has started it, whatever becomes of that. */
const APART = '--pdeathsig KILL unshare --net --mount --propagation slave --pid --fork --kill-child'.split(' ');

/** The wire's end in the node of that process. */
const END = 'eth0';
const inNetworkOf = (pid: number, command: readonly string[]): [string, string[]] => [
  'nsenter',
  [`--net=/proc/${pid}/ns/net`, ...command],
];

async function startNode(folder: string, name: string, number: number): Promise<Node> {
  const own = path.join(folder, name);
  const socket = path.join(folder, `${name}.sock`);
  const log = path.join(folder, `${name}.log`);
  await mkdir(own, { recursive: true });
  const engine = [
    'dockerd',
    `--storage-driver=${await storageDriver(own)}`,
    `--host=unix://${socket}`,
    `--data-root=${path.join(own, 'data')}`,
    '--exec-root=/run/engine',
    '--pidfile=/run/engine.pid',
    '--bridge=none',
    `--cgroup-parent=/${path.basename(folder)}`,
  ];
  const args = [...APART, 'sh', '-c', INSIDE, 'sh', path.join(folder, 'plugins'), log, ...engine];
  const child = spawn('setpriv', args, { stdio: 'ignore' });
  const client = await dockerEngine(`unix://${socket}`);
  await answering(child, () => client.ping(), log);
  return {
    name,
    address: `10.92.0.${number}`,
    host: `unix://${socket}`,
    pid: innerOf(child),
    engine: client,
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      process.kill(innerOf(child), 'SIGKILL');
      await ended;
    },
  };
}

/** Of a command that has another one do the work, that one. */
const innerOf = ({ pid }: ChildProcess): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0]);

async function answering(child: ChildProcess, ask: () => Promise<unknown>, log: string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    if (
      await ask().then(
        () => true,
        () => false,
      )
    )
      return;
    if (tries > START_TRIES || child.exitCode !== null)
      throw new Error(`dockerd did not start: ${await readFile(log, 'utf8').catch(() => '')}`);
    await delay(POLL_MS);
  }
}

/** Two nodes that reach each other, and nobody else. */
export async function startNodes(folder: string, names: readonly [string, string]): Promise<[Node, Node]> {
  await mkdir(path.join(folder, 'plugins'), { recursive: true });
  const [first, second] = await Promise.all([startNode(folder, names[0], 1), startNode(folder, names[1], 2)]);
  const wire = `link add ${END} netns ${first.pid} type veth peer name ${END} netns ${second.pid}`;
  await run('ip', wire.split(' '));
  for (const { pid, address } of [first, second]) {
    await run(...inNetworkOf(pid, ['ip', 'address', 'add', `${address}/24`, 'dev', END]));
    await run(...inNetworkOf(pid, ['ip', 'link', 'set', END, 'up']));
  }
  return [first, second];
}

/** Pulls the plug, or puts it back. */
export const plug = async (pid: number, state: 'up' | 'down'): Promise<void> =>
  void (await run(...inNetworkOf(pid, ['ip', 'link', 'set', END, state])));
