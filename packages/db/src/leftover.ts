import { execFile } from 'node:child_process';
import { readdir, readFile, readlink, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { StartError } from '@troupe/kernel';
import type { Log } from '@troupe/kernel';

/** Fast, then immediate. */
const SIGNALS = ['SIGINT', 'SIGQUIT'] as const;
const WAIT_MS = 8_000;

/**
 * A parent that was killed may have left its server running on this folder, a killed server its backends.
 * We hold the folder's lock, so nobody uses them.
 */
export async function stopLeftover(folder: string, log: Log): Promise<void> {
  const pidFile = join(folder, 'postmaster.pid');
  const pid = Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n')[0]);
  if (!pid) return;
  for (const signal of SIGNALS) {
    const left = await serversIn(folder, pid);
    if (left.length === 0) break;
    log.warn({ pid, signal }, 'a database server was left behind, stopping it');
    for (const one of left.includes(pid) ? [pid] : left) kill(one, signal);
    await gone(folder, pid);
  }
  const [stubborn] = await serversIn(folder, pid);
  if (stubborn) {
    throw new StartError(
      `A database server was left behind and does not stop: end process ${stubborn} and start again.`,
    );
  }
  // The server would trust the number in it, which may belong to another process by now, or to a dead one nobody buried.
  await rm(pidFile, { force: true });
}

async function gone(folder: string, pid: number): Promise<void> {
  for (let waited = 0; waited < WAIT_MS && (await serversIn(folder, pid)).length > 0; waited += 50) await delay(50);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Every postgres that works in the folder; elsewhere than on Linux only the first one is known. */
async function serversIn(folder: string, pid: number): Promise<number[]> {
  const all = process.platform === 'linux' ? (await readdir('/proc')).map(Number).filter(Boolean) : [pid];
  const ours = await Promise.all(all.map((one) => worksIn(one, folder)));
  return all.filter((_, index) => ours[index]);
}

/** Whether that process is a postgres of the folder. */
export async function worksIn(pid: number, folder: string): Promise<boolean> {
  if (process.platform !== 'linux') {
    const ps = promisify(execFile)('ps', ['-p', String(pid), '-o', 'args=']);
    const { stdout } = await ps.catch(() => ({ stdout: '' }));
    return stdout.includes('postgres') && stdout.includes(folder);
  }
  // Not ours to look at, or gone meanwhile.
  const at = (name: string) => readlink(`/proc/${pid}/${name}`).catch(() => '');
  return (await at('cwd')) === folder && basename(await at('exe')).startsWith('postgres');
}
