import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Public addresses, by the only names that the closed network knows. Nothing leaves it, and nothing else is in it. */
export const SITES = {
  'allowed.test': '11.0.0.1',
  'www.allowed.test': '11.0.0.2',
  'other.test': '11.0.0.3',
} as const;

/** Its own loopback has the sites' addresses, its own /etc/hosts their names. */
const ENTER = `ip link set lo up && ${Object.values(SITES)
  .map((address) => `ip address add ${address}/32 dev lo`)
  .join(' && ')} && mount --bind "$HOSTS" /etc/hosts && exec "$@"`;

export const closedNetwork = (...command: string[]): [string, string[]] => [
  'unshare',
  ['--net', '--mount', ...(process.getuid?.() === 0 ? [] : ['--map-root-user']), 'sh', '-c', ENTER, 'sh', ...command],
];

/** Runs a file of tests in a network of its own and tells how that went. */
export async function runInClosedNetwork(file: string, env: Record<string, string> = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'troupe-network-'));
  const hosts = path.join(folder, 'hosts');
  writeFileSync(
    hosts,
    Object.entries({ localhost: '127.0.0.1', ...SITES })
      .map(([name, address]) => `${address} ${name}\n`)
      .join(''),
  );
  const { NODE_TEST_CONTEXT: _, ...rest } = process.env;
  const [command, args] = closedNetwork(process.execPath, file);
  const child = spawn(command, args, {
    env: { ...rest, ...env, HOSTS: hosts },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  rmSync(folder, { recursive: true, force: true });
  return { code, output };
}
