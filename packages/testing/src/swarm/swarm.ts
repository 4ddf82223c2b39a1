import { execFile, spawn, spawnSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { dockerEngine, writeImage } from '@troupe/fleet';
import { plug, startNodes, type Engine, type Node } from './nodes.ts';
import { serveVolumes } from './volume-plugin.ts';

/** A swarm of two nodes, and the platform's place in its network. */

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const TOLD = 'TROUPE_TEST_SWARM';
export const IMAGE = 'troupe.local/agent:test';
/** Starts, and never serves. */
export const SICK = 'troupe.local/agent:sick';
export const NETWORK = 'agents';
export const VOLUMES = 'shared';

const run = promisify(execFile);

interface Told {
  /** Of the platform, in the agents' network. */
  address: string;
  nodes: Pick<Node, 'name' | 'host' | 'pid'>[];
}

async function join([manager, worker]: readonly [Node, Node]): Promise<void> {
  const place = ({ address }: Node) => ({ ListenAddr: `${address}:2377`, AdvertiseAddr: address });
  await manager.engine.swarmInit({ ...place(manager), DataPathAddr: manager.address });
  const { JoinTokens } = (await manager.engine.swarmInspect()) as { JoinTokens: { Worker: string } };
  await worker.engine.swarmJoin({
    ...place(worker),
    DataPathAddr: worker.address,
    RemoteAddrs: [`${manager.address}:2377`],
    JoinToken: JoinTokens.Worker,
  });
  await manager.engine.createNetwork({ Name: NETWORK, Driver: 'overlay', Attachable: true });
}

/** As an operator would: written once, loaded by each engine. */
async function addImages(folder: string, engines: readonly Engine[]): Promise<void> {
  const loadInto = async (engine: Engine, file: string): Promise<void> => {
    for await (const _ of await engine.loadImage(createReadStream(file))) continue;
  };
  const add = async (name: string, write: (file: string) => Promise<unknown>): Promise<void> => {
    const file = path.join(folder, `${name}.tar`);
    await write(file);
    await Promise.all(engines.map((engine) => loadInto(engine, file)));
    await rm(file);
  };
  const node = process.execPath;
  await Promise.all([
    add('agent', (file) =>
      run(node, [path.join(ROOT, 'scripts/agent-image.ts'), file], {
        env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], AGENT_IMAGE: IMAGE },
      }),
    ),
    add('sick', (file) => writeImage(file, { name: SICK, program: 'setInterval(() => {}, 1000)', node })),
  ]);
}

/** A container that only is there: the platform of a test has its network. */
async function standIn({ engine, pid }: Node): Promise<{ address: string; network: string }> {
  const container = await engine.createContainer({
    name: 'platform',
    Image: IMAGE,
    Cmd: ['/bin/node', '-e', 'setInterval(() => {}, 1e8)'],
    HostConfig: { NetworkMode: NETWORK },
  });
  await container.start();
  const { NetworkSettings } = await container.inspect();
  const { SandboxKey } = NetworkSettings as unknown as { SandboxKey: string };
  return {
    address: NetworkSettings.Networks[NETWORK]?.IPAddress ?? '',
    network: `/proc/${pid}/root${SandboxKey.replace('/var/run/', '/run/')}`,
  };
}

/** Runs files of tests where the platform would be, one after the other, and tells how that went. */
export async function runInSwarm(files: readonly string[]): Promise<{ code: number | null; output: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'troupe-swarm-'));
  const closing: (() => unknown)[] = [];
  try {
    const nodes = await startNodes(folder, ['node-1', 'node-2']);
    closing.push(...nodes.map(({ close }) => close));
    const volumes = await serveVolumes(path.join(folder, 'plugins', `${VOLUMES}.sock`), path.join(folder, 'volumes'));
    closing.push(volumes.close);
    // What drivers an engine has it tells the swarm when it joins, and finds out when it is asked.
    for (const { engine } of nodes) await engine.listVolumes();
    await join(nodes);
    await addImages(
      folder,
      nodes.map(({ engine }) => engine),
    );
    const { address, network } = await standIn(nodes[0]);
    const told: Told = { address, nodes: nodes.map(({ name, host, pid }) => ({ name, host, pid })) };
    return await inPlace(folder, network, files, told);
  } finally {
    for (const close of closing) await close();
    const groups = ['/sys/fs/cgroup', '-depth', '-type', 'd', '-path', `*/${path.basename(folder)}*`];
    spawnSync('find', [...groups, '-exec', 'rmdir', '{}', '+'], { stdio: 'ignore' });
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 500 });
  }
}

async function inPlace(folder: string, network: string, files: readonly string[], told: Told) {
  const names = path.join(folder, 'resolv.conf');
  await writeFile(names, 'nameserver 127.0.0.11\n');
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const tests = [process.execPath, '--test', '--test-concurrency=1', '--test-reporter=spec', ...files];
  const command = 'mount --bind "$0" /etc/resolv.conf && exec "$@"';
  const child = spawn('nsenter', [`--net=${network}`, 'unshare', '--mount', 'sh', '-c', command, names, ...tests], {
    cwd: ROOT,
    env: { ...env, [TOLD]: JSON.stringify(told) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (output += String(piece)));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, output };
}

/** The swarm that this process is in. */
export async function thisSwarm() {
  const text = process.env[TOLD];
  if (text === undefined) throw new Error('This file is run by runInSwarm');
  const { address, nodes } = JSON.parse(text) as Told;
  const engines = await Promise.all(nodes.map(({ host }) => dockerEngine(host)));
  const [manager] = engines;
  const pidOf = (name: string): number => nodes.find((node) => node.name === name)!.pid;
  interface Listed {
    ID: string;
    Status: { State: string };
    ManagerStatus?: object;
  }
  const listed = async () => (await manager!.listNodes()) as unknown as Listed[];
  return {
    address,
    manager: manager!,
    /** Of the node that manages nothing. */
    worker: engines[1]!,
    host: nodes[0]!.host,
    /** Which of them a service's one task runs on. */
    async nodeOf(service: string): Promise<'node-1' | 'node-2' | undefined> {
      const filters = { service: [service], 'desired-state': ['running'] };
      const tasks = (await manager!.listTasks({ filters })) as { NodeID: string; Status: { State: string } }[];
      const at = tasks.find(({ Status }) => Status.State === 'running')?.NodeID;
      const found = (await listed()).find(({ ID }) => ID === at);
      return found && (found.ManagerStatus ? 'node-1' : 'node-2');
    },
    cut: (name: string) => plug(pidOf(name), 'down'),
    /** Puts the plug back, and waits until the swarm counts on the node. */
    async mend(name: string): Promise<void> {
      await plug(pidOf(name), 'up');
      while ((await listed()).some(({ Status }) => Status.State !== 'ready')) await delay(200);
    },
  };
}
export type ThisSwarm = Awaited<ReturnType<typeof thisSwarm>>;
