import { createHash } from 'node:crypto';
import path from 'node:path';
import { createGlob } from '../glob.ts';
import { createWorkspaceFiles, WORKSPACE_ENTRIES, WorkspaceError, type WorkspaceFiles } from '../workspace-files.ts';

/** A file that a pattern matches. */
export interface Found {
  path: string;
  bytes: number;
  /** By this machine's clock; also when it was moved here. */
  changedAt: number;
  /** Stands for its content; left out where it has not changed since. */
  mark?: string;
  /** Changed a moment ago: it may not be whole. */
  fresh?: boolean;
}

const MOST = 2000;
const FRESH_MS = 3000;
/** Read of each end of a file. */
const SAMPLE = 64 * 1024;

interface Asked {
  root: string;
  pattern: string;
  /** By this machine's clock, as `now`. */
  since: number;
  now: number;
}

export async function run({ root, pattern, since, now }: Asked): Promise<Found[]> {
  const files = createWorkspaceFiles(root);
  const matches = createGlob(pattern);
  // A pattern without a slash is meant for names in any folder.
  const anywhere = !pattern.includes('/');
  const found: Found[] = [];
  for await (const name of files.walk('.', WORKSPACE_ENTRIES)) {
    const base = path.posix.basename(name);
    if (/^\.[0-9a-f]{16}\.part$/.test(base) || !(matches(name) || (anywhere && matches(base)))) continue;
    if (found.length === MOST) throw new WorkspaceError(`More than ${MOST} files match: narrow the pattern`);
    const one = await describe(files, name, { since, now }).catch(gone);
    if (one) found.push(one);
  }
  return found;
}

const describe = (files: WorkspaceFiles, name: string, { since, now }: Pick<Asked, 'since' | 'now'>): Promise<Found> =>
  files.open(name, async (handle) => {
    const { size, mtimeMs, ctimeMs } = await handle.stat();
    const changedAt = Math.max(mtimeMs, ctimeMs);
    const fresh = changedAt > now - FRESH_MS;
    const about = { path: name, bytes: size, changedAt, ...(fresh && { fresh }) };
    if (changedAt <= since || fresh) return about;
    const hash = createHash('sha256').update(`${size}:`);
    const sample = Buffer.alloc(Math.min(size, SAMPLE));
    for (const at of new Set([0, Math.max(0, size - SAMPLE)])) {
      const { bytesRead } = await handle.read(sample, 0, sample.length, at);
      hash.update(sample.subarray(0, bytesRead));
    }
    return { ...about, mark: hash.digest('hex').slice(0, 32) };
  });

/** What went away or was closed meanwhile is passed over. */
function gone(error: unknown): undefined {
  const { code, name } = error as NodeJS.ErrnoException;
  if (code !== undefined || name === 'WorkspaceError' || name === 'OutsideWorkspace') return undefined;
  throw error;
}
