import { readFile, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import { StartError } from '@troupe/kernel';
import type { Log } from '@troupe/kernel';

/** Fast, then immediate; each gets half of the time. */
const SIGNALS = ['SIGINT', 'SIGQUIT'] as const;
const WAIT_MS = 8_000;

/** A parent that was killed may have left its server running on this folder. We hold the folder's lock, so nobody uses it. */
export async function stopLeftover(folder: string, log: Log): Promise<void> {
  const pid = Number((await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')[0]);
  if (!pid || !(await isOurs(pid, folder))) return;
  log.warn({ pid }, 'a database server was left behind, stopping it');
  for (const signal of SIGNALS) {
    if (!kill(pid, signal)) return;
    for (let waited = 0; waited < WAIT_MS; waited += 50) {
      await delay(50);
      if (!(await isOurs(pid, folder))) return;
    }
  }
  throw new StartError(`A database server was left behind and does not stop: end process ${pid} and start again.`);
}

function kill(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** The number may belong to any process by now: it is ours when it is a postgres that works in the folder. */
async function isOurs(pid: number, folder: string): Promise<boolean> {
  try {
    if (process.platform === 'linux') {
      const [exe, cwd] = await Promise.all([readlink(`/proc/${pid}/exe`), readlink(`/proc/${pid}/cwd`)]);
      return basename(exe).startsWith('postgres') && cwd === folder;
    }
    const { stdout } = await promisify(execFile)('ps', ['-p', String(pid), '-o', 'args=']);
    return stdout.includes('postgres') && stdout.includes(folder);
  } catch {
    return false;
  }
}
