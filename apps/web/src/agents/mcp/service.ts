import {
  createMcpFace,
  listed,
  mcpTool,
  McpRefusal,
  talkTools,
  type McpFace,
  type McpTool,
  type Talk,
} from '@troupe/interop';
import type { Roster } from '@troupe/roster';
import { AppError, iso, newId, readTraceparent, withTrace, type Log, type User } from '@troupe/kernel';
import { z } from 'zod';
import type { ChatService } from '../chat/service.ts';
import type { ConversationsService } from '../conversations/service.ts';
import type { MemoryService } from '../memory/service.ts';
import type { TasksService } from '../tasks/service.ts';

/** The platform as others' models see it: a short list of tools over the services that the dashboard uses. */

export interface McpCaller {
  user: User;
  address: string;
}

export interface McpDeps {
  roster: Roster;
  chat: ChatService;
  conversations: ConversationsService;
  memory: MemoryService;
  tasks: TasksService;
  log: Log;
  version: string;
}

export type McpService = ReturnType<typeof createMcp>;

const INSTRUCTIONS =
  'The agents of one person on Troupe. List them, ask one of them something, read what came of it, and schedule prompts for them. An agent has its own tools and memory; what it does may cost money.';

export function createMcp(deps: McpDeps) {
  const tools = [
    listAgents(deps),
    ...talkTools(talkOf(deps), { agent: agentId }, (args) => String(args['agent'])),
    readMemory(deps),
    ...taskTools(deps),
  ].map(withTold);
  let made: Promise<McpFace<McpCaller>> | undefined;
  return {
    tools,
    /** Made with the first call. */
    face: (): Promise<McpFace<McpCaller>> =>
      (made ??= createMcpFace<McpCaller>({
        name: 'troupe',
        title: 'Troupe',
        version: deps.version,
        instructions: () => INSTRUCTIONS,
        tools,
        onError: (err) => deps.log.error({ err }, 'a tool of the MCP server failed'),
      })),
    close: async () => (await made)?.close(),
  };
}

/** What our services refuse with a sentence, the model is told. */
const withTold = (tool: McpTool<McpCaller>): McpTool<McpCaller> => ({
  ...tool,
  run: (args, call) =>
    withTrace(readTraceparent(call.traceparent), () => tool.run(args, call)).catch((error: unknown) => {
      if (error instanceof AppError && error.status !== 500) throw new McpRefusal(error.message);
      throw error;
    }),
});

const agentId = z.string().min(1).max(200).describe('Id of the agent, as list_agents has it');

const PAGE = 100;

const listAgents = ({ roster }: McpDeps) =>
  mcpTool<McpCaller, z.ZodObject<{ offset: z.ZodDefault<z.ZodInt> }>>({
    name: 'list_agents',
    title: 'List agents',
    description: `Your agents, the newest first, at most ${PAGE} at a time.`,
    args: z.object({ offset: z.int().min(0).max(1_000_000).default(0) }),
    scope: 'agents:read',
    readOnly: true,
    async run({ offset }, { caller }) {
      const rows = await roster.of(caller.user.id).list({ limit: PAGE, offset });
      return listed(
        'agents',
        rows.map((row) => ({
          id: row.id,
          name: row.name,
          status: row.status,
          model: row.model,
          team: row.team_id,
          created_at: iso(row.created_at),
        })),
      );
    },
  });

function talkOf({ chat, conversations }: McpDeps): Talk<McpCaller> {
  const find = async ({ user, address }: McpCaller, agent: string, page: { limit: number; key?: string }) =>
    (await conversations.list(user, agent, { ...page, offset: 0 }, address)).sessions;
  const shown = ({ key, status, updatedAt }: Awaited<ReturnType<typeof find>>[number]) => ({
    conversation: key,
    status,
    updatedAt,
  });
  return {
    newName: () => `mcp-${newId()}`,
    async ask(agent, { message, conversation }, { caller, signal }) {
      const said = { message, agentId: agent, topic: conversation };
      const { reply } = await chat.send(caller.user, said, caller.address, signal);
      return { reply };
    },
    conversations: async (agent, { caller }) => (await find(caller, agent, { limit: PAGE })).map(shown),
    async read(agent, conversation, { caller }) {
      const [session] = await find(caller, agent, { limit: 1, key: conversation });
      if (!session) return undefined;
      const page = { after: Math.max(0, session.lastSeq - PAGE), limit: PAGE };
      const { events } = await conversations.read(caller.user, agent, session.id, page, caller.address);
      return { ...shown(session), events };
    },
  };
}

const MEMORY_CHARACTERS = 50_000;

const readMemory = ({ memory }: McpDeps) =>
  mcpTool<McpCaller, z.ZodObject<{ agent: typeof agentId }>>({
    name: 'read_memory',
    title: 'Read an agent’s memory',
    description: 'What the agent remembers, the newest first.',
    args: z.object({ agent: agentId }),
    scope: 'agents:read',
    readOnly: true,
    async run({ agent }, { caller: { user, address } }) {
      const found = await memory.read(user, { agentId: agent, offset: 0 }, address);
      const text = Object.entries(found.memory)
        .map(([key, value]) => `${key}: ${value}`)
        .join('\n');
      return { text: text.slice(0, MEMORY_CHARACTERS) || 'Nothing is remembered.' };
    },
  });

const taskId = z.string().min(1).max(200).describe('Id of the task, as list_tasks has it');
const schedule = {
  name: z.string().trim().min(1).max(200),
  schedule: z.string().min(1).max(200).describe('Cron expression of five fields'),
  timezone: z.string().max(64).default('UTC').describe('IANA name'),
  prompt: z.string().trim().min(1).max(100_000),
};

function taskTools({ tasks }: McpDeps): McpTool<McpCaller>[] {
  return [
    mcpTool({
      name: 'list_tasks',
      title: 'List scheduled tasks',
      description: 'Prompts that are given to agents at set times, with when they come next.',
      args: z.object({ agent: agentId.optional() }),
      scope: 'agents:read',
      readOnly: true,
      async run({ agent }, { caller }: { caller: McpCaller }) {
        const found = await tasks.list(caller.user.id, agent, { limit: PAGE, offset: 0 });
        return listed(
          'tasks',
          found.tasks.map(({ prompt, ...task }) => ({ ...task, prompt: prompt.slice(0, 500) })),
        );
      },
    }),
    mcpTool({
      name: 'list_task_runs',
      title: 'List runs of a task',
      description: 'What came of the last occurrences of a scheduled task.',
      args: z.object({ task: taskId }),
      scope: 'agents:read',
      readOnly: true,
      async run({ task }, { caller }: { caller: McpCaller }) {
        const { runs } = await tasks.runs(caller.user.id, task, 20);
        return listed(
          'runs',
          runs.map(({ output, ...run }) => ({ ...run, output: output?.slice(0, 2000) ?? null })),
        );
      },
    }),
    mcpTool({
      name: 'create_task',
      title: 'Schedule a task',
      description: 'Give an agent a prompt at set times.',
      args: z.object({ agent: agentId, ...schedule }),
      scope: 'tasks:write',
      async run({ agent, schedule: cronSchedule, ...rest }, { caller }: { caller: McpCaller }) {
        const made = await tasks.create(caller.user, { ...rest, cronSchedule, agentId: agent });
        return { text: `Scheduled as ${made.id}; it comes next at ${made.nextRun}.`, data: { task: made } };
      },
    }),
    mcpTool({
      name: 'delete_task',
      title: 'Delete a scheduled task',
      description: 'Delete a scheduled task and its history.',
      args: z.object({ task: taskId }),
      scope: 'tasks:write',
      destructive: true,
      async run({ task }, { caller }: { caller: McpCaller }) {
        await tasks.remove(caller.user.id, task);
        return { text: `Task ${task} is deleted.` };
      },
    }),
  ];
}
