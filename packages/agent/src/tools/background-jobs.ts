import { z } from 'zod';
import { createEgressProxy } from '../sandbox/egress-proxy.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { ShellOptions } from './shell.ts';
import { failed, tool, type Holding, type Tool, type ToolContext } from './tool.ts';

/** Commands that go on while the run does other things. They end with it, or when their time is over. */

const MOST_JOBS = 3;
/** Those that have ended are kept to be read. */
const MOST_KEPT = 20;
const DEFAULT_MINUTES = 10;
const MOST_MINUTES = 60;
const TAIL_CHARACTERS = 8_000;
const HELD = 'jobs';

interface Job {
  id: string;
  cmd: string;
  since: number;
  stop: (why: string) => void;
  tail: () => string;
  done: Promise<unknown>;
  /** How it ended; undefined: it goes on. */
  ended?: string;
}

interface Jobs extends Holding {
  all: Map<string, Job>;
  next: number;
}

const id = z.string().max(20).describe('As run_background_job or list_background_jobs says');
const ARGS = {
  run: z.object({
    cmd: z.string().min(1).max(20_000),
    cwd: z.string().max(4096).default('.').describe('Folder relative to the workspace'),
    minutes: z.int().min(1).max(MOST_MINUTES).default(DEFAULT_MINUTES).describe('After so many it is ended'),
  }),
  list: z.object({}),
  one: z.object({ id }),
};

function makeJobs(): Jobs {
  const all = new Map<string, Job>();
  return {
    all,
    next: 1,
    async close() {
      for (const { stop } of all.values()) stop('the run ended');
      await Promise.all([...all.values()].map(({ done }) => done));
    },
  };
}

function createStarting(workspace: Workspace, sandbox: Sandbox, { egress = {}, skills }: ShellOptions) {
  return async ({ cmd, cwd, minutes }: z.output<typeof ARGS.run>, { definition }: ToolContext, id: string) => {
    const give = sandbox.seats.job.take(workspace.owner);
    if (!give) throw new Error('Too many commands run in the background already. Stop one, or wait for one to end.');
    const { allowedDomains } = definition.config.safety;
    const proxy = allowedDomains.length > 0 ? await createEgressProxy({ ...egress, allowedDomains }) : undefined;
    const over = async (): Promise<void> => {
      give();
      workspace.touched();
      await proxy?.close();
    };
    try {
      await workspace.ready();
      const { mounts = [] } = (await skills?.shelf.mounts(definition.skills ?? [], skills.source)) ?? {};
      const started = await sandbox.start({
        argv: ['/bin/sh', '-c', cmd],
        workspace,
        cwd,
        skills: mounts,
        timeoutMs: minutes * 60_000,
        // It outlives the call: the run ends it.
        signal: new AbortController().signal,
        ...(proxy && { egressSocket: proxy.socketPath }),
      });
      const { stop, output } = started;
      const job: Job = { id, cmd, since: Date.now(), stop, tail: output.text, done: Promise.resolve() };
      job.done = (async () => {
        try {
          const { code, stopped } = await started.done;
          job.ended = stopped === undefined ? `ended with code ${code}` : `stopped: ${stopped}`;
        } catch (error) {
          job.ended = `failed: ${(error as Error).message}`;
        } finally {
          await over();
        }
      })();
      return job;
    } catch (error) {
      await over();
      throw error;
    }
  };
}

const stateOf = ({ id, cmd, since, ended }: Job): string =>
  `${id} (${ended ?? `running for ${Math.round((Date.now() - since) / 1000)} s`}): ${cmd.slice(0, 200)}`;

/** Its words from the end, as they are now. */
function tailOf(job: Job): string {
  const said = job.tail();
  const cut = said.length > TAIL_CHARACTERS ? `[${said.length - TAIL_CHARACTERS} characters before]\n` : '';
  return `${stateOf(job)}\n${cut}${said.slice(-TAIL_CHARACTERS) || '(no output yet)'}`;
}

const jobsOf = ({ held }: ToolContext): Promise<Jobs> => held.get(HELD, makeJobs);
const toolset = 'background_jobs';

const startingTool = (sandbox: Sandbox, begin: ReturnType<typeof createStarting>): Tool =>
  tool({
    name: 'run_background_job',
    toolset,
    description: 'Start a long shell command and go on; it ends with this run. Read it with view_background_job.',
    args: ARGS.run,
    repeatable: false,
    async run(given, context) {
      const reason = await sandbox.unavailable();
      if (reason !== undefined)
        return failed(`Background jobs are off: there is no sandbox to run commands in (${reason}).`);
      const jobs = await jobsOf(context);
      const running = [...jobs.all.values()].filter(({ ended }) => ended === undefined);
      if (running.length >= MOST_JOBS)
        return failed(`At most ${MOST_JOBS} jobs run at once. Stop one with stop_background_job, or wait.`);
      try {
        const job = await begin(given, context, `job${jobs.next++}`);
        jobs.all.set(job.id, job);
        const old = [...jobs.all.values()].filter(({ ended }) => ended !== undefined);
        for (const { id: gone } of old.slice(0, Math.max(0, jobs.all.size - MOST_KEPT))) jobs.all.delete(gone);
        return `Started as ${job.id}. It is ended after ${given.minutes} minutes at the latest.`;
      } catch (error) {
        return failed((error as Error).message);
      }
    },
  });

export function backgroundJobTools(workspace: Workspace, sandbox: Sandbox, options: ShellOptions = {}): Tool[] {
  const one = async (wanted: string, context: ToolContext, work: (job: Job) => Promise<string> | string) => {
    const { all } = await jobsOf(context);
    const job = all.get(wanted);
    // What it has written is the next call's to see.
    workspace.touched();
    return job ? work(job) : failed(`There is no job ${wanted}. Jobs: ${[...all.keys()].join(', ') || 'none'}.`);
  };

  return [
    startingTool(sandbox, createStarting(workspace, sandbox, options)),
    tool({
      name: 'list_background_jobs',
      toolset,
      description: 'List the background jobs of this run.',
      args: ARGS.list,
      repeatable: true,
      run: async (_, context) => [...(await jobsOf(context)).all.values()].map(stateOf).join('\n') || 'There are none.',
    }),
    tool({
      name: 'view_background_job',
      toolset,
      description: 'Read the end of what a background job has printed.',
      args: ARGS.one,
      repeatable: true,
      run: ({ id: wanted }, context) => one(wanted, context, tailOf),
    }),
    tool({
      name: 'stop_background_job',
      toolset,
      description: 'Stop a background job.',
      args: ARGS.one,
      repeatable: true,
      run: ({ id: wanted }, context) =>
        one(wanted, context, async (job) => {
          job.stop('you stopped it');
          await job.done;
          return tailOf(job);
        }),
    }),
  ];
}
