import { z } from 'zod';
import { createEgressProxy, type EgressOptions } from '../sandbox/egress-proxy.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Shelf, SkillSource } from '../skills/shelf.ts';
import { failed, tool, type Tool } from './tool.ts';
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

interface ShellOptions {
  egress?: Omit<EgressOptions, 'allowedDomains'>;
  skills?: { shelf: Shelf; source: SkillSource };
}

/** Commands run in the sandbox or not at all. With allowed domains they reach those, through the proxy, and no others. */
export function shellTools(workspace: Workspace, sandbox: Sandbox, { egress = {}, skills }: ShellOptions = {}): Tool[] {
  return [
    tool({
      name: 'shell',
      toolset: 'shell',
      description: 'Run a shell command in the workspace.',
      args: ARGS.shell,
      repeatable: false,
      async run({ cmd, cwd, timeout }, { signal, definition }) {
        const reason = await sandbox.unavailable();
        if (reason !== undefined)
          return failed(`The shell is off: there is no sandbox to run commands in (${reason}).`);
        const { mounts = [], missing = [] } =
          (await skills?.shelf.mounts(definition.skills ?? [], skills.source)) ?? {};
        const { allowedDomains } = definition.config.safety;
        const proxy = allowedDomains.length > 0 ? await createEgressProxy({ ...egress, allowedDomains }) : undefined;
        try {
          const {
            output: said,
            code,
            stopped,
            full,
          } = await sandbox.run({
            argv: ['/bin/sh', '-c', cmd],
            workspace,
            cwd,
            skills: mounts,
            timeoutMs: timeout * 1000,
            signal,
            ...(proxy && { egressSocket: proxy.socketPath }),
          });
          signal.throwIfAborted();
          const output = [...missing, said].join('\n');
          if (stopped !== undefined) return failed(`The command was stopped: ${stopped}.\n${output}`);
          if (full !== undefined)
            return failed(`${output}\n[exit code ${code}]\nNow ${full}: remove something before more is written.`);
          return code === 0 ? { content: output || '(no output)' } : failed(`${output}\n[exit code ${code}]`);
        } finally {
          await proxy?.close();
        }
      },
    }),
  ];
}
