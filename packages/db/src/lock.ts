import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { randomHex, StartError } from '@troupe/kernel';

/** A process by number and start: numbers are used again. */
export async function processMark(pid: number): Promise<string | undefined> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return undefined;
  }
  // Without /proc the number alone has to do.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // Dead, but not yet buried by its parent.
  if (fields[0] === 'Z') return undefined;
  return `${pid} ${fields[19] ?? ''}`;
}

/** One owner of `path` at a time, as long as it lives; returns what gives it back. */
export async function takeLock(path: string, refusal: (pid: number) => string): Promise<() => Promise<void>> {
  const mine = await processMark(process.pid);
  const draft = `${path}.${randomHex(4)}`;
  await writeFile(draft, `${mine}\n`, { mode: 0o600 }).catch((cause: Error) => {
    throw new StartError(`${dirname(path)} cannot be written (${cause.message}): set another DATA_DIR.`, { cause });
  });
  try {
    for (;;) {
      const taken = await link(draft, path).catch((error: NodeJS.ErrnoException) => error);
      if (!taken) return () => rm(path, { force: true });
      if (taken.code !== 'EEXIST') throw taken;
      const held = await readFile(path, 'utf8').catch(() => '');
      const pid = Number(held.split(' ')[0]);
      if (pid && (await processMark(pid)) === held.trim()) throw new StartError(refusal(pid));
      await removeStale(path, held, draft);
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** Moved aside first: if another start was faster, it is that one's fresh lock, and it goes back. */
async function removeStale(path: string, judged: string, draft: string): Promise<void> {
  const aside = `${draft}.stale`;
  await rename(path, aside).catch(() => {});
  if ((await readFile(aside, 'utf8').catch(() => judged)) !== judged) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
}
