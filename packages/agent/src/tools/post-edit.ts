import path from 'node:path';
import { isLike } from '@troupe/domain';
import { z } from 'zod';
import type { RunCommand } from './shell.ts';
import type { Tool } from './tool.ts';

/** Runs the definition's commands after a file was written. What they complain about is part of the call's result. */

const SECONDS = 60;
const WRITING = new Set(['write_file', 'edit_file']);
const written = z.object({ path: z.string() });

export const withPostEdit = (
  tools: readonly Tool[],
  rules: readonly { path: string; cmd: string }[],
  run: RunCommand,
): Tool[] =>
  tools.map((tool) => {
    if (!WRITING.has(tool.name)) return tool;
    return {
      ...tool,
      async run(args, context) {
        const result = await tool.run(args, context);
        const given = written.safeParse(args);
        if (result.isError || !given.success) return result;
        const file = given.data.path;
        let content = result.content;
        for (const { path: like, cmd } of rules) {
          if (!isAbout(file, like)) continue;
          const done = await run({ cmd, env: { path: file, file }, seconds: SECONDS }, context);
          if (done.isError) content += `\n[${cmd}] ${done.content}`;
        }
        return { ...result, content };
      },
    };
  });

/** A pattern without a folder is about the name of the file. */
const isAbout = (file: string, like: string): boolean =>
  isLike(like.includes('/') ? path.posix.normalize(file) : path.posix.basename(file), like);
