import { existsSync } from 'node:fs';
import { defineTask, type WorkerPool } from '@troupe/kernel';
import { z } from 'zod';
import type { Workspace } from '../workspace/workspace.ts';
import type { run as pictures } from '../workspace/tasks/pictures.task.ts';
import type { RunCommand } from './shell.ts';
import { failed, tool, type Tool, type ToolResult } from './tool.ts';

/** Programs of the model's own, in the sandbox with the workspace. Pictures that they write are shown. */

interface CodeDeps {
  run: RunCommand;
  workspace: () => Promise<Workspace>;
  pool: WorkerPool;
  owner: string;
  /** Where Python is looked for. */
  pythons?: readonly string[];
}

/** A sandbox shows programs below /usr. */
const PYTHONS = ['/usr/bin/python3', '/usr/local/bin/python3'];
/** The kernel takes 128 KB as one argument. */
const MOST_BYTES = 100_000;
const DEFAULT_SECONDS = 60;
const MAX_SECONDS = 600;
const MOST_PICTURES = 4;
/** File systems count time more coarsely than we do. */
const SLACK_MS = 20;

const PICTURES = defineTask<typeof pictures>(new URL('../workspace/tasks/pictures.task.ts', import.meta.url), 10_000);

const ARGS = z.object({
  language: z.enum(['javascript', 'python']),
  code: z.string().min(1).max(MOST_BYTES),
  timeout: z.int().min(1).max(MAX_SECONDS).default(DEFAULT_SECONDS).describe('Seconds'),
});

export function codeTools({ run, workspace, pool, owner, pythons = PYTHONS }: CodeDeps): Tool[] {
  async function shown(since: number): Promise<Pick<ToolResult, 'pictures'>> {
    const { root } = await workspace();
    const found = await pool.run(PICTURES, { root, since, most: MOST_PICTURES }, { key: owner });
    return found.length === 0 ? {} : { pictures: found.map((one) => ({ ...one, kind: 'picture' as const })) };
  }

  return [
    tool({
      name: 'run_code',
      toolset: 'code',
      description:
        'Run JavaScript (Node) or Python in the workspace and see what it prints. Pictures that it writes are shown.',
      args: ARGS,
      repeatable: false,
      async run({ language, code, timeout }, context) {
        if (Buffer.byteLength(code) > MOST_BYTES)
          return failed(`The code has more than ${MOST_BYTES / 1000} KB: put it into a file, and run that.`);
        if (code.includes('\0')) return failed('The code has a NUL character in it.');
        const python = pythons.find((one) => existsSync(one));
        if (language === 'python' && python === undefined)
          return failed('Python is off: it is not installed here. Use JavaScript.');
        const since = Date.now() - SLACK_MS;
        const cmd = language === 'python' ? `exec ${python} -c "$CODE"` : JAVASCRIPT;
        const done = await run(
          { cmd, env: { CODE: code, MPLBACKEND: 'Agg', PYTHONUNBUFFERED: '1' }, seconds: timeout },
          context,
        );
        return { ...done, ...(await shown(since)) };
      },
    }),
  ];
}

/** Both ways to write modules are understood. */
const JAVASCRIPT = 'exec node -e "$CODE"';
