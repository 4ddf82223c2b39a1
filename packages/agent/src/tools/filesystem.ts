import { z } from 'zod';
import { AppError } from '@troupe/kernel';
import { failed, tool, type Tool, type ToolResult } from './tool.ts';
import type { Workspace } from '../workspace/workspace.ts';

const MAX_LINES = 2000;

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

/** Errors that are sentences already, by name: they may come from another thread. */
const SAID = new Set(['OutsideWorkspace', 'WorkspaceError', 'BadPattern']);

async function guarded(target: string, work: () => Promise<ToolResult | string>): Promise<ToolResult | string> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError || SAID.has((error as Error).name)) return failed((error as Error).message);
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

const toolset = 'filesystem';

/** What is in one file. */
function fileTools(workspace: Workspace): Tool[] {
  return [
    tool({
      name: 'read_file',
      toolset,
      description: 'Read a text file, or lines of it.',
      args: ARGS.read_file,
      repeatable: true,
      run: ({ path: target, offset = 1, limit = MAX_LINES }) =>
        guarded(target, async () => lines(await workspace.read(target), offset, limit)),
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
          const refused = await workspace.edit(target, edits);
          if (refused !== undefined) return failed(refused);
          return `Made ${edits.length} edits in ${target}.`;
        }),
    }),
  ];
}

/** What there is, by name and by content. */
function lookTools(workspace: Workspace): Tool[] {
  return [
    tool({
      name: 'list_directory',
      toolset,
      description: 'List a folder.',
      args: ARGS.list_directory,
      repeatable: true,
      run: ({ path: target }, { signal }) =>
        guarded(target, () => workspace.look({ what: 'list', folder: target }, signal)),
    }),
    tool({
      name: 'directory_tree',
      toolset,
      description: 'List all files below a folder.',
      args: ARGS.directory_tree,
      repeatable: true,
      run: ({ path: target }, { signal }) =>
        guarded(target, () => workspace.look({ what: 'tree', folder: target }, signal)),
    }),
    tool({
      name: 'search_files',
      toolset,
      description: 'Find files by name; the pattern is a glob such as **/*.md.',
      args: ARGS.search_files,
      repeatable: true,
      run: ({ path: target, pattern }, { signal }) =>
        guarded(target, () => workspace.look({ what: 'names', folder: target, pattern }, signal)),
    }),
    tool({
      name: 'search_files_content',
      toolset,
      description: 'Find lines that contain a text.',
      args: ARGS.search_files_content,
      repeatable: true,
      run: ({ path: target, query }, { signal }) =>
        guarded(target, () => workspace.look({ what: 'content', folder: target, query }, signal)),
    }),
  ];
}

/** Where things are. */
function placeTools(workspace: Workspace): Tool[] {
  return [
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

export const filesystemTools = (workspace: Workspace): Tool[] => [
  ...fileTools(workspace),
  ...lookTools(workspace),
  ...placeTools(workspace),
];

/** Some lines of a text, and how many are left; the others are passed over, not kept. */
function lines(text: string, first: number, most: number): string {
  let from = 0;
  for (let line = 1; line < first && from !== -1; line += 1) from = after(text, from);
  if (from === -1) return '';
  let end = from;
  for (let line = 0; line < most && end !== -1; line += 1) end = after(text, end);
  if (end === -1) return text.slice(from);
  let left = 1;
  for (let next = after(text, end); next !== -1; next = after(text, next)) left += 1;
  return `${text.slice(from, end - 1)}\n[${left} more lines]`;
}

/** Where the next line begins; -1: there is none. */
const after = (text: string, from: number): number => {
  const at = text.indexOf('\n', from);
  return at === -1 ? -1 : at + 1;
};
