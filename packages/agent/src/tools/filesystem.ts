import path from 'node:path';
import { z } from 'zod';
import { OutsideWorkspace } from '../jail.ts';
import { failed, tool, type Tool, type ToolResult } from '../tool.ts';
import { WorkspaceError, type Workspace } from '../workspace.ts';

const MAX_LINES = 2000;
const MAX_ENTRIES = 1000;
const MAX_MATCHES = 200;
const MAX_WALKED = 20_000;
const MAX_SEARCHED_BYTES = 1024 * 1024;
const MAX_LINE = 400;

const file = z.string().min(1).max(4096).describe('Path relative to the workspace');
const folder = z.string().max(4096).default('.').describe('Folder relative to the workspace');

/** Errors of the file system, said without the host's paths. */
const SENTENCES: Record<string, string> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is not a folder, or goes through something that is none',
  EISDIR: 'is a folder',
  EEXIST: 'exists already',
  ENOTEMPTY: 'is not empty',
  ENAMETOOLONG: 'is too long a name',
  EACCES: 'is not accessible',
  ENOSPC: 'cannot be written: the disk is full',
};

async function guarded(target: string, work: () => Promise<ToolResult | string>): Promise<ToolResult | string> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OutsideWorkspace || error instanceof WorkspaceError) return failed(error.message);
    const sentence = SENTENCES[(error as NodeJS.ErrnoException).code ?? ''];
    if (sentence === undefined) throw error;
    return failed(`${target} ${sentence}`);
  }
}

const ARGS = {
  read_file: z.object({
    path: file,
    offset: z.int().min(1).optional().describe('First line, from 1'),
    limit: z.int().min(1).max(MAX_LINES).optional().describe('Number of lines'),
  }),
  write_file: z.object({ path: file, content: z.string() }),
  edit_file: z.object({
    path: file,
    edits: z
      .array(z.object({ oldText: z.string().min(1), newText: z.string() }))
      .min(1)
      .max(100),
  }),
  list_directory: z.object({ path: folder }),
  directory_tree: z.object({ path: folder }),
  search_files: z.object({ path: folder, pattern: z.string().min(1).max(500) }),
  search_files_content: z.object({ path: folder, query: z.string().min(1).max(500) }),
  create_directory: z.object({ path: file }),
  move_file: z.object({ source: file, destination: file }),
  delete_file: z.object({ path: file }),
};

export function filesystemTools(workspace: Workspace): Tool[] {
  const toolset = 'filesystem';
  return [
    tool({
      name: 'read_file',
      toolset,
      description: 'Read a text file, or lines of it.',
      args: ARGS.read_file,
      repeatable: true,
      run: ({ path: target, offset = 1, limit = MAX_LINES }) =>
        guarded(target, async () => {
          const lines = (await workspace.read(target)).split('\n');
          const shown = lines.slice(offset - 1, offset - 1 + limit);
          const left = lines.length - (offset - 1) - shown.length;
          return shown.join('\n') + (left > 0 ? `\n[${left} more lines]` : '');
        }),
    }),
    tool({
      name: 'write_file',
      toolset,
      description: 'Write a whole file; folders are made as needed.',
      args: ARGS.write_file,
      repeatable: true,
      run: ({ path: target, content }) =>
        guarded(target, async () => {
          await workspace.write(target, content);
          return `Wrote ${Buffer.byteLength(content)} bytes to ${target}.`;
        }),
    }),
    tool({
      name: 'edit_file',
      toolset,
      description: 'Replace exact texts in a file. Each oldText must occur exactly once.',
      args: ARGS.edit_file,
      repeatable: false,
      run: ({ path: target, edits }) =>
        guarded(target, async () => {
          let text = await workspace.read(target);
          for (const [index, { oldText, newText }] of edits.entries()) {
            const times = text.split(oldText).length - 1;
            if (times !== 1) return failed(`Edit ${index + 1}: the text occurs ${times} times. Nothing was changed.`);
            text = text.replace(oldText, () => newText);
          }
          await workspace.write(target, text);
          return `Made ${edits.length} edits in ${target}.`;
        }),
    }),
    tool({
      name: 'list_directory',
      toolset,
      description: 'List a folder.',
      args: ARGS.list_directory,
      repeatable: true,
      run: ({ path: target }) =>
        guarded(target, async () => {
          const entries = await workspace.list(target);
          const lines = entries
            .slice(0, MAX_ENTRIES)
            .map(({ name, kind, size }) => (kind === 'folder' ? `${name}/` : `${name} (${size} bytes)`));
          return (
            [...lines, ...(entries.length > MAX_ENTRIES ? [`[${entries.length - MAX_ENTRIES} more]`] : [])].join(
              '\n',
            ) || 'The folder is empty.'
          );
        }),
    }),
    tool({
      name: 'directory_tree',
      toolset,
      description: 'List all files below a folder.',
      args: ARGS.directory_tree,
      repeatable: true,
      run: ({ path: target }) =>
        guarded(target, async () => {
          const found: string[] = [];
          for await (const name of workspace.walk(target, MAX_ENTRIES)) found.push(name);
          return found.join('\n') || 'There are no files.';
        }),
    }),
    tool({
      name: 'search_files',
      toolset,
      description: 'Find files by name; the pattern is a glob such as **/*.md.',
      args: ARGS.search_files,
      repeatable: true,
      run: ({ path: target, pattern }) =>
        guarded(target, async () => {
          const found: string[] = [];
          for await (const name of workspace.walk(target, MAX_WALKED)) {
            if (matches(path.posix.relative(target, name), pattern)) found.push(name);
            if (found.length >= MAX_ENTRIES) break;
          }
          return found.join('\n') || 'Nothing was found.';
        }),
    }),
    tool({
      name: 'search_files_content',
      toolset,
      description: 'Find lines that contain a text.',
      args: ARGS.search_files_content,
      repeatable: true,
      run: ({ path: target, query }) => guarded(target, () => searchContent(workspace, target, query)),
    }),
    tool({
      name: 'create_directory',
      toolset,
      description: 'Make a folder and those above it.',
      args: ARGS.create_directory,
      repeatable: true,
      run: ({ path: target }) =>
        guarded(target, async () => {
          await workspace.makeFolder(target);
          return `Made ${target}.`;
        }),
    }),
    tool({
      name: 'move_file',
      toolset,
      description: 'Move or rename a file or folder.',
      args: ARGS.move_file,
      repeatable: false,
      run: ({ source, destination }) =>
        guarded(source, async () => {
          await workspace.move(source, destination);
          return `Moved ${source} to ${destination}.`;
        }),
    }),
    tool({
      name: 'delete_file',
      toolset,
      description: 'Delete a file, or a folder with all that is in it.',
      args: ARGS.delete_file,
      repeatable: false,
      run: ({ path: target }) =>
        guarded(target, async () => {
          await workspace.remove(target);
          return `Deleted ${target}.`;
        }),
    }),
  ];
}

/** A pattern without a slash is meant for names in any folder. */
const matches = (name: string, pattern: string): boolean =>
  path.posix.matchesGlob(name, pattern) ||
  (!pattern.includes('/') && path.posix.matchesGlob(path.posix.basename(name), pattern));

async function searchContent(workspace: Workspace, target: string, query: string): Promise<string> {
  const found: string[] = [];
  for await (const name of workspace.walk(target, MAX_WALKED)) {
    const text = await workspace.read(name, MAX_SEARCHED_BYTES).catch(() => '');
    if (text.includes('\0') || !text.includes(query)) continue;
    for (const [index, line] of text.split('\n').entries()) {
      if (line.includes(query)) found.push(`${name}:${index + 1}: ${line.slice(0, MAX_LINE)}`);
      if (found.length >= MAX_MATCHES) return `${found.join('\n')}\n[there may be more]`;
    }
  }
  return found.join('\n') || 'Nothing was found.';
}
