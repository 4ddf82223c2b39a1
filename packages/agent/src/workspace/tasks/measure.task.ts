import { lstatSync, opendirSync, type Dir } from 'node:fs';
import path from 'node:path';

export interface Measure {
  bytes: number;
  entries: number;
  /** There is a folder that cannot be looked into: nobody knows what it holds. */
  hidden: boolean;
}

/** What a file, folder or link takes at least, also an empty one. */
const ENTRY_BYTES = 4096;
const READ_AT_ONCE = 512;

/**
 * Bytes of disk and entries under a folder, links not followed; stops counting once it is more than enough. What a
 * folder holds is counted before it is weighed: too many files are noticed while they are made.
 */
export function run({ folder, bytes, entries }: { folder: string; bytes: number; entries: number }): Measure {
  const found: Measure = { bytes: 0, entries: 0, hidden: false };
  const waiting = [folder];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const opened = open(next);
    if (opened === 'hidden') found.hidden = true;
    if (typeof opened === 'string') continue;
    const names = entriesOf(opened, entries - found.entries);
    found.entries += names.length;
    if (found.entries > entries) return found;
    for (const { name, isFolder } of names) {
      const full = path.join(next, name);
      const stat = statOf(full);
      if (isFolder) waiting.push(full);
      // A sparse file counts for what it really takes.
      if (stat) found.bytes += Math.max(ENTRY_BYTES, Math.min(stat.blocks * 512, stat.size));
      if (found.bytes > bytes) return found;
    }
  }
  return found;
}

/** All of a folder, or one more than are wanted. */
function entriesOf(opened: Dir, wanted: number): { name: string; isFolder: boolean }[] {
  const names: { name: string; isFolder: boolean }[] = [];
  try {
    for (let entry = opened.readSync(); entry && names.length <= wanted; entry = opened.readSync())
      names.push({ name: entry.name, isFolder: entry.isDirectory() });
  } finally {
    opened.closeSync();
  }
  return names;
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';
const isGone = (error: unknown): boolean => ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error));

function open(folder: string): Dir | 'gone' | 'hidden' {
  try {
    return opendirSync(folder, { bufferSize: READ_AT_ONCE });
  } catch (error) {
    if (isGone(error)) return 'gone';
    // Too deep for a path, or closed: room for what nobody counts.
    if (['ENAMETOOLONG', 'EACCES', 'EPERM'].includes(codeOf(error))) return 'hidden';
    throw error;
  }
}

function statOf(file: string) {
  try {
    return lstatSync(file);
  } catch (error) {
    if (isGone(error) || codeOf(error) === 'ENAMETOOLONG' || codeOf(error) === 'EACCES') return undefined;
    throw error;
  }
}
