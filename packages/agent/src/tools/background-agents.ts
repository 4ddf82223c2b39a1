import { AppError } from '@troupe/kernel';
import { z } from 'zod';
import type { AgentDefinition } from '@troupe/domain';
import type { BackgroundTask } from '../store/background.ts';
import { failed, tool, type Tool, type ToolContext, type ToolResult } from './tool.ts';

/** Work of members that the lead does not wait for. */

const TOOLSET = 'background_agents';

const ARGS = {
  run: z.object({
    agent: z.string().max(200).describe('Name of the member'),
    task: z.string().trim().min(1).max(50_000),
    expected_output: z.string().max(10_000).default(''),
  }),
  list: z.object({}),
  one: z.object({ task_id: z.string().min(1).max(200) }),
};

const NONE = 'There is no such task in the background of this conversation.';
const OFF = 'There is nobody here to work in the background.';

const lineOf = ({ id, member, status, task }: BackgroundTask): string =>
  `- ${id} (${member}): ${status}. ${task.slice(0, 100).replaceAll(/\s+/g, ' ')}`;

/** Of this conversation only: another may be somebody else's. */
async function taskOf({ background, sessionId }: ToolContext, id: string): Promise<BackgroundTask | undefined> {
  const found = await background?.task(id);
  return found?.sessionId === sessionId ? found : undefined;
}

function runTool(members: readonly { agentId: string; name: string }[]): Tool {
  const names = members.map(({ name }) => name).join(', ');
  return tool({
    name: 'run_background_agent',
    toolset: TOOLSET,
    description: `Give a member of your team (${names}) a task and go on at once. The member knows only what you write. The result comes into this conversation by itself when it is there.`,
    args: ARGS.run,
    repeatable: true,
    async run({ agent: name, task, expected_output: expected }, context): Promise<ToolResult | string> {
      const member = members.find((one) => one.name === name);
      if (!member) return failed(`There is no member ${name}. Members: ${names}.`);
      const { background, run, remaining, callId: id, sessionId } = context;
      if (!background || !run) return failed(OFF);
      try {
        await background.start({
          id,
          sessionId,
          runSeq: run.seq,
          memberId: member.agentId,
          member: name,
          task: expected ? `${task}\n\nExpected output: ${expected}` : task,
          limits: {
            ...remaining,
            maxTurns: Math.max(1, remaining.maxTurns),
            maxTokens: Math.max(1, remaining.maxTokens),
          },
          depth: run.depth + 1,
        });
      } catch (error) {
        if (error instanceof AppError && error.status === 409) return failed(error.message);
        throw error;
      }
      return `${name} works on it. Task: ${id}. Go on with something else, or answer: the result will be told to you.`;
    },
  });
}

export function backgroundTools({ team }: AgentDefinition): Tool[] {
  const members = team?.members ?? [];
  if (members.length === 0) return [];
  return [
    runTool(members),
    tool({
      name: 'list_background_agents',
      toolset: TOOLSET,
      description: 'The tasks that you gave in this conversation, and how they are.',
      args: ARGS.list,
      repeatable: true,
      async run(_, { sessionId, background }) {
        const found = (await background?.tasks(sessionId)) ?? [];
        return found.length > 0 ? found.map(lineOf).join('\n') : 'There are none.';
      },
    }),
    tool({
      name: 'view_background_agent',
      toolset: TOOLSET,
      description: 'How a task is, and its whole result.',
      args: ARGS.one,
      repeatable: true,
      async run({ task_id: id }, context) {
        const found = await taskOf(context, id);
        if (!found) return failed(NONE);
        return found.status === 'running' ? `${lineOf(found)}\nIt goes on.` : `${lineOf(found)}\n\n${found.result}`;
      },
    }),
    tool({
      name: 'stop_background_agent',
      toolset: TOOLSET,
      description: 'Stop a task.',
      args: ARGS.one,
      repeatable: true,
      async run({ task_id: id }, context) {
        const { background } = context;
        if (!background || !(await taskOf(context, id))) return failed(NONE);
        const stopped = await background.stop(id, { tells: false, says: 'You stopped it.' });
        return stopped ? `${id} is stopped.` : `${id} has ended before: ${(await background.task(id))?.status}.`;
      },
    }),
  ];
}
