import { execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/** A real Kubernetes cluster of two nodes, in a network of its own. */

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const SCRIPTS = path.join(ROOT, 'tests/kubernetes');
const MADE = '/var/cache/troupe-kubernetes';
const NODES = ['node-1', 'node-2'];
const FOLDER = 'TROUPE_TEST_CLUSTER';

const run = promisify(execFile);

/** Whether its programs are here, or are being made. */
export const hasCluster = (): boolean =>
  process.getuid?.() === 0 && ['kubelet', 'lock'].some((name) => existsSync(path.join(MADE, name)));

/** Runs files of tests beside a fresh cluster, one after the other, and tells how that went. */
export async function runInCluster(files: readonly string[]): Promise<{ code: number | null; output: string }> {
  // Waits for who makes the programs already.
  await run(path.join(SCRIPTS, 'build.sh'), { maxBuffer: 64 * 1024 * 1024 });
  const folder = await mkdtemp(path.join(tmpdir(), 'troupe-kubernetes-'));
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const command = 'ip link set lo up && "$0" "$@" && exec $RUN';
  try {
    const child = spawn('unshare', ['--net', 'sh', '-c', command, path.join(SCRIPTS, 'up.sh'), folder, ...NODES], {
      cwd: ROOT,
      env: {
        ...env,
        KUBECONFIG: path.join(folder, 'kubeconfig'),
        [FOLDER]: folder,
        RUN: [process.execPath, '--test', '--test-concurrency=1', '--test-reporter=spec', ...files].join(' '),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (output += String(piece)));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    return { code, output };
  } finally {
    spawnSync(path.join(SCRIPTS, 'down.sh'), [folder]);
  }
}

/** The cluster that this process runs beside. */
export function thisCluster() {
  const folder = process.env[FOLDER];
  if (folder === undefined) throw new Error('This file is run by runInCluster');
  const kubectl = async (args: readonly string[], input?: string): Promise<string> => {
    const asked = run('kubectl', ['--kubeconfig', path.join(folder, 'kubeconfig'), ...args], {
      maxBuffer: 64 * 1024 * 1024,
    });
    asked.child.stdin?.end(input ?? '');
    return (await asked).stdout;
  };
  return {
    folder,
    kubeconfig: path.join(folder, 'kubeconfig'),
    kubectl,
    json: async <T>(...args: string[]): Promise<T> => JSON.parse(await kubectl([...args, '-o', 'json'])) as T,
    /** Kills one of its processes with -9; one called like a node is the whole node. */
    kill(name: string): void {
      const [pid = ''] = readFileSync(path.join(folder, 'run', `${name}.pid`), 'utf8').split(' ');
      process.kill(Number(pid), 'SIGKILL');
    },
    /**
     * Cuts a node off: its kubelet from the API server, its pods from everybody. Both run on, and reach their volumes.
     * Returns how that is taken back.
     */
    async cutOff(node: string): Promise<() => Promise<void>> {
      const number = node.split('-')[1];
      const rules = [
        // up.sh starts each kubelet in a group of its own
        ['OUTPUT', '-p', 'tcp', '--dport', '6443', '-m', 'owner', '--gid-owner', `900${number}`],
        ['OUTPUT', '-o', `pods-${number}`],
        ['INPUT', '-i', `pods-${number}`],
        ['FORWARD', '-o', `pods-${number}`],
        ['FORWARD', '-i', `pods-${number}`],
      ];
      const each = async (how: '-I' | '-D'): Promise<void> => {
        for (const rule of rules) await run('iptables', ['-w', how, ...rule, '-j', 'DROP']);
      };
      await each('-I');
      return () => each('-D');
    },
    /** Brings back what was killed. */
    repair: async (): Promise<void> => void (await run(path.join(SCRIPTS, 'up.sh'), [folder, ...NODES])),
    /** Gives an image to every node: nothing can be fetched here. */
    async addImage(file: string): Promise<void> {
      for (const node of NODES) {
        const socket = path.join(folder, 'nodes', node, 'containerd.sock');
        await run('ctr', ['--address', socket, '--namespace', 'k8s.io', 'images', 'import', file]);
      }
    },
  };
}
export type ThisCluster = ReturnType<typeof thisCluster>;
