import { createWorkspaceFiles, WorkspaceError } from '../workspace-files.ts';
import path from 'node:path';

/** A file that goes into a zip of a folder. */
export interface Gathered {
  /** In the workspace. */
  path: string;
  /** In the zip: below the folder that is packed. */
  name: string;
  bytes: number;
  modifiedAt: string;
}

export interface Wanted {
  root: string;
  folder: string;
  mostFiles: number;
  mostMb: number;
}

const MB = 1024 * 1024;

/** The files under a folder in their order; links and what is being written are left out. */
export async function run({ root, folder, mostFiles, mostMb }: Wanted): Promise<Gathered[]> {
  const files = createWorkspaceFiles(root);
  const found: Gathered[] = [];
  let room = mostMb * MB;
  for await (const file of files.walk(folder, mostFiles + 1)) {
    const { dir, base } = path.posix.parse(file);
    if (/^\.[0-9a-f]{16}\.part$/.test(base)) continue;
    if (found.length === mostFiles)
      throw new WorkspaceError(`More than ${mostFiles.toLocaleString('en')} files: take a smaller folder`);
    const [entry] = await files.describe(dir || '.', [{ name: base, kind: 'file' }]);
    room -= entry!.bytes;
    if (room < 0) throw new WorkspaceError(`More than ${mostMb} MB: take a smaller folder`);
    const name = path.posix.relative(path.posix.normalize(folder), file).toWellFormed();
    found.push({ path: file, name, bytes: entry!.bytes, modifiedAt: entry!.modifiedAt });
  }
  return found;
}
