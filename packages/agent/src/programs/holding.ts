import { mkdir, rmdir, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sha256Hex } from '@troupe/kernel';

/** One process at a time for each key, by a folder that only one can make; one that died holds up nobody for long. */

const BEAT_MS = 1_000;
const DEAD_MS = 10_000;
const LOOK_MS = 100;

export function createHolding(root: string) {
  async function take(lock: string): Promise<boolean> {
    try {
      await mkdir(lock);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const beat = (await stat(lock).catch(() => undefined))?.mtimeMs;
    if (beat !== undefined && Date.now() - beat > DEAD_MS) await rmdir(lock).catch(() => undefined);
    return false;
  }

  return async function holding<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const locks = path.join(root, '.locks');
    await mkdir(locks, { recursive: true, mode: 0o700 });
    const lock = path.join(locks, sha256Hex(key));
    while (!(await take(lock))) await delay(LOOK_MS, undefined, { signal });
    const beating = setInterval(() => {
      const now = new Date();
      // Whoever took it for dead goes on beside this one: both put the same in the same place.
      utimes(lock, now, now).catch(() => clearInterval(beating));
    }, BEAT_MS).unref();
    try {
      return await work();
    } finally {
      clearInterval(beating);
      await rmdir(lock).catch(() => undefined);
    }
  };
}
