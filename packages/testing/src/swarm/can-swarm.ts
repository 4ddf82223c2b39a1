import { spawnSync } from 'node:child_process';

const LINKS =
  'ip link add name tunnel type vxlan id 1 dstport 4789 && ip link add name inner type bridge && nsenter --version';
const works = (command: string, args: readonly string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore', timeout: 10_000 }).status === 0;

/** Whether this machine can be two with an engine each: rights, the programs, and a kernel with overlay networks. */
export const canSwarm = (): boolean =>
  process.getuid?.() === 0 &&
  works('dockerd', ['--version']) &&
  works('docker', ['--version']) &&
  works('unshare', ['--net', '--mount', '--pid', '--fork', 'sh', '-c', LINKS]);
