import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';

/** Bytes of disk under a folder, links not followed; stops counting once it is more than `enough`. */
export async function folderSize(folder: string, enough = Number.POSITIVE_INFINITY): Promise<number> {
  let total = 0;
  const waiting = [folder];
  for (let next = waiting.pop(); next !== undefined && total <= enough; next = waiting.pop()) {
    const current = next;
    const entries = await readdir(current, { withFileTypes: true }).catch(() => []);
    const sizes = await Promise.all(
      entries.map(async (entry) => {
        const full = path.join(current, entry.name);
        if (entry.isDirectory()) waiting.push(full);
        const stat = await lstat(full).catch(() => undefined);
        // A sparse file counts for what it really takes.
        return stat ? Math.min(stat.blocks * 512, Math.max(stat.size, 4096)) : 0;
      }),
    );
    total += sizes.reduce((sum, size) => sum + size, 0);
  }
  return total;
}
