import { createWorkspaceFiles, type FileEntry } from '../workspace-files.ts';

/** What is in a folder, as a person browses it. */
export interface Browsed {
  entries: FileEntry[];
  /** There are more than are shown. */
  more: boolean;
}

const MAX_SHOWN = 2000;
const MAX_READ = 20_000;

export async function run({ root, folder }: { root: string; folder: string }): Promise<Browsed> {
  const files = createWorkspaceFiles(root);
  const all = await files.list(folder, MAX_READ);
  // What is being written at this moment, or was given up, is nobody's file.
  const entries = all.filter(({ name }) => !/^\.[0-9a-f]{16}\.part$/.test(name));
  const shown = entries.slice(0, MAX_SHOWN);
  return { entries: await files.describe(folder, shown), more: entries.length > shown.length };
}
