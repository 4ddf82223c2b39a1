import path from 'node:path';
import { createGlob } from '../glob.ts';
import { createWorkspaceFiles, WORKSPACE_ENTRIES, WorkspaceError, type WorkspaceFiles } from '../workspace-files.ts';

/** What a model wants to know of a workspace, as the text that it gets. */
export type Look = { root: string; folder: string } & (
  | { what: 'list' }
  | { what: 'tree' }
  | { what: 'names'; pattern: string }
  | { what: 'content'; query: string }
);

const MAX_SHOWN = 1000;
const MAX_MATCHES = 200;
const MAX_WALKED = 20_000;
const MAX_SEARCHED_BYTES = 1024 * 1024;
const MAX_LINE = 400;

export async function run({ root, folder, ...ask }: Look): Promise<string> {
  const files = createWorkspaceFiles(root);
  if (ask.what === 'list') return list(files, folder);
  if (ask.what === 'names') return names(files, folder, ask.pattern);
  if (ask.what === 'content') return content(files, folder, ask.query);
  const found: string[] = [];
  for await (const name of files.walk(folder, MAX_SHOWN)) found.push(name);
  return found.join('\n') || 'There are no files.';
}

async function list(files: WorkspaceFiles, folder: string): Promise<string> {
  const entries = await files.list(folder, WORKSPACE_ENTRIES);
  const shown = entries.slice(0, MAX_SHOWN);
  const sizes = await files.sizes(
    folder,
    shown.map(({ name }) => name),
  );
  const lines = shown.map(({ name, kind }, index) =>
    kind === 'folder' ? `${name}/` : `${name} (${sizes[index]} bytes)`,
  );
  if (entries.length > MAX_SHOWN) lines.push(`[${entries.length - MAX_SHOWN} more]`);
  return lines.join('\n') || 'The folder is empty.';
}

async function names(files: WorkspaceFiles, folder: string, pattern: string): Promise<string> {
  const matches = createGlob(pattern);
  // A pattern without a slash is meant for names in any folder.
  const anywhere = !pattern.includes('/');
  const found: string[] = [];
  for await (const name of files.walk(folder, MAX_WALKED)) {
    if (matches(path.posix.relative(folder, name)) || (anywhere && matches(path.posix.basename(name))))
      found.push(name);
    if (found.length >= MAX_SHOWN) break;
  }
  return found.join('\n') || 'Nothing was found.';
}

async function content(files: WorkspaceFiles, folder: string, query: string): Promise<string> {
  const found: string[] = [];
  for await (const name of files.walk(folder, MAX_WALKED)) {
    const text = await files.read(name, MAX_SEARCHED_BYTES).catch(unreadable);
    if (text.includes('\0') || !text.includes(query)) continue;
    for (const [index, line] of text.split('\n').entries()) {
      if (line.includes(query)) found.push(`${name}:${index + 1}: ${line.slice(0, MAX_LINE)}`);
      if (found.length >= MAX_MATCHES) return `${found.join('\n')}\n[there may be more]`;
    }
  }
  return found.join('\n') || 'Nothing was found.';
}

/** Too large, gone, closed or no file: passed over. */
function unreadable(error: unknown): string {
  if (error instanceof WorkspaceError || (error as NodeJS.ErrnoException).code !== undefined) return '';
  if ((error as Error).name === 'OutsideWorkspace') return '';
  throw error;
}
