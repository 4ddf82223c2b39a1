import { lstatSync, opendirSync } from 'node:fs';
import path from 'node:path';

export interface FoundPicture {
  path: string;
  mime: string;
  bytes: number;
}

const MIMES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
};
const MOST_LOOKED_AT = 20_000;
const MOST_DEPTH = 8;

/** Pictures that were written since, the newest first; links and hidden folders are not followed. */
export function run({ root, since, most }: { root: string; since: number; most: number }): FoundPicture[] {
  const found: (FoundPicture & { at: number })[] = [];
  const waiting = [{ folder: '', depth: 0 }];
  let looked = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const opened = open(path.join(root, next.folder));
    if (!opened) continue;
    try {
      for (let entry = opened.readSync(); entry && looked < MOST_LOOKED_AT; entry = opened.readSync()) {
        looked += 1;
        const name = path.join(next.folder, entry.name);
        const isHidden = entry.name.startsWith('.') || entry.name === 'node_modules';
        if (entry.isDirectory() && !isHidden && next.depth < MOST_DEPTH)
          waiting.push({ folder: name, depth: next.depth + 1 });
        const mime = entry.isFile() ? MIMES[path.extname(entry.name).toLowerCase()] : undefined;
        const stat = mime === undefined ? undefined : lstatSync(path.join(root, name), { throwIfNoEntry: false });
        if (mime !== undefined && stat && stat.mtimeMs >= since)
          found.push({ path: name, mime, bytes: stat.size, at: stat.mtimeMs });
      }
    } finally {
      opened.closeSync();
    }
  }
  return found
    .toSorted((a, b) => b.at - a.at)
    .slice(0, most)
    .map(({ at: _at, ...picture }) => picture);
}

/** One that is gone, or closed, shows no pictures. */
function open(folder: string) {
  try {
    return opendirSync(folder);
  } catch {
    return undefined;
  }
}
