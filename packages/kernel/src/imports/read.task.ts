import { ImportError, readImport, short, type BundleFile, type ImportPlan } from '@troupe/domain/imports';
import { ArchiveError, entriesOf, type Entry } from '../skills/unpack.ts';

/** What somebody sent: an archive or a single file. `dry`: contents are not wanted back. */
export interface ImportSent {
  bytes: Uint8Array<ArrayBuffer>;
  name: string;
  path?: string | undefined;
  dry: boolean;
}

export type { ImportPlan } from '@troupe/domain/imports';
export type ImportReading = { ok: true; plan: ImportPlan } | { ok: false; error: string };

const MB = 1024 * 1024;
const FILE_BYTES = 25 * MB;
const ALL_BYTES = 64 * MB;
const MOST_FILES = 5000;

/** Others' files may be anything: this runs in a thread with a deadline. */
export function run({ bytes, name, path, dry }: ImportSent): ImportReading {
  try {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const entries = entriesOf(buffer);
    const files = entries ? filesOf(entries) : [{ path: name.split(/[\\/]/).at(-1) || 'document', content: bytes }];
    const plan = readImport({ files, path });
    return { ok: true, plan: dry ? withoutContents(plan) : copied(plan) };
  } catch (error) {
    if (error instanceof ArchiveError || error instanceof ImportError) return { ok: false, error: error.message };
    throw error;
  }
}

function filesOf(entries: readonly Entry[]): BundleFile[] {
  let left = ALL_BYTES;
  const seen = new Set<string>();
  const files: BundleFile[] = [];
  for (const entry of entries) {
    const path = entry.path.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');
    if (path === '') continue;
    checkPath(path);
    if (entry.kind === 'folder') continue;
    if (entry.kind !== 'file')
      throw new ArchiveError(`${short(path)} is a link or a device: only plain files are taken`);
    const key = path.normalize('NFC').toLowerCase();
    if (seen.has(key)) throw new ArchiveError(`${short(path)} stands twice in it`);
    seen.add(key);
    if (files.length === MOST_FILES) throw new ArchiveError(`An import has ${MOST_FILES} files at most`);
    const content = entry.read(Math.min(FILE_BYTES, left));
    left -= content.length;
    files.push({ path, content });
  }
  return files;
}

function checkPath(path: string): void {
  const parts = path.split('/');
  const isOdd = parts.some((part) => part === '' || part === '.' || part === '..');
  if (isOdd || path.startsWith('/') || /[\\:\p{C}]/u.test(path))
    throw new ArchiveError(`${short(path)} is no path within it`);
  if (path.length > 500 || parts.length > 30) throw new ArchiveError(`${short(path)} is too long or too deep`);
}

const mapped = (plan: ImportPlan, content: (bytes: Uint8Array) => Uint8Array): ImportPlan => ({
  ...plan,
  collections: plan.collections.map((one) => ({
    ...one,
    files: one.files.map((file) => ({ ...file, content: content(file.content) })),
  })),
  workspace: plan.workspace.map((file) => ({ ...file, content: content(file.content) })),
  skills: plan.skills.map((one) => ({
    ...one,
    files: one.files.map((file) => ({ ...file, content: content(file.content) })),
  })),
});

const NOTHING = new Uint8Array(0);
const withoutContents = (plan: ImportPlan): ImportPlan => mapped(plan, () => NOTHING);
/** What crosses between threads brings the whole of what it is a part of. */
const copied = (plan: ImportPlan): ImportPlan => mapped(plan, (bytes) => new Uint8Array(bytes));
