import { z } from 'zod';
import { createEgressProxy, type EgressOptions } from '../sandbox/egress-proxy.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Shelf, SkillSource } from '../skills/shelf.ts';
import { failed, tool, type Tool, type ToolContext, type ToolResult } from './tool.ts';
import type { Workspace } from '../workspace/workspace.ts';

const DEFAULT_SECONDS = 60;
const MAX_SECONDS = 600;

const ARGS = {
  shell: z.object({
    cmd: z.string().min(1).max(20_000),
    cwd: z.string().max(4096).default('.').describe('Folder relative to the workspace'),
    timeout: z.int().min(1).max(MAX_SECONDS).default(DEFAULT_SECONDS).describe('Seconds'),
  }),
};

export interface ShellOptions {
  egress?: Omit<EgressOptions, 'allowedDomains'>;
  skills?: { shelf: Shelf; source: SkillSource };
}

interface Command {
  cmd: string;
  cwd?: string | undefined;
  env?: Readonly<Record<string, string>>;
  seconds: number;
}

export type RunCommand = (command: Command, context: Pick<ToolContext, 'signal' | 'definition'>) => Promise<ToolResult>;

/** Commands run in the sandbox or not at all. With allowed domains they reach those, through the proxy, and no others. */
export function commandRunner(
  workspace: Workspace,
  sandbox: Sandbox,
  { egress = {}, skills }: ShellOptions = {},
): RunCommand {
  return async ({ cmd, cwd, env, seconds }, { signal, definition }) => {
    const reason = await sandbox.unavailable();
    if (reason !== undefined) return failed(`The shell is off: there is no sandbox to run commands in (${reason}).`);
    await workspace.ready();
    const { mounts = [], missing = [] } = (await skills?.shelf.mounts(definition.skills ?? [], skills.source)) ?? {};
    const { allowedDomains } = definition.config.safety;
    const proxy = allowedDomains.length > 0 ? await createEgressProxy({ ...egress, allowedDomains }) : undefined;
    try {
      const done = await sandbox.run({
        argv: ['/bin/sh', '-c', cmd],
        workspace,
        ...(cwd !== undefined && { cwd }),
        ...(env && { env }),
        skills: mounts,
        timeoutMs: seconds * 1000,
        signal,
        ...(proxy && { egressSocket: proxy.socketPath }),
      });
      signal.throwIfAborted();
      return reported(done, [...missing, done.output].join('\n'));
    } finally {
      workspace.touched();
      await proxy?.close();
    }
  };
}

type Done = Awaited<ReturnType<Sandbox['run']>>;

function reported({ code, stopped, full }: Done, output: string): ToolResult {
  if (stopped !== undefined) return failed(`The command was stopped: ${stopped}.\n${output}`);
  if (full !== undefined)
    return failed(`${output}\n[exit code ${code}]\nNow ${full}: remove something before more is written.`);
  return code === 0 ? { content: output || '(no output)' } : failed(`${output}\n[exit code ${code}]`);
}

export function shellTools(workspace: Workspace, sandbox: Sandbox, options: ShellOptions = {}): Tool[] {
  const run = commandRunner(workspace, sandbox, options);
  return [
    tool({
      name: 'shell',
      toolset: 'shell',
      description: 'Run a shell command in the workspace.',
      args: ARGS.shell,
      repeatable: false,
      run: ({ cmd, cwd, timeout }, context) => run({ cmd, cwd, seconds: timeout }, context),
    }),
  ];
}
