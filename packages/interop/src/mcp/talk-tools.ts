import { z } from 'zod';
import { lastMessages, type LoggedEvent } from './conversation.ts';
import { mcpTool, type McpCall, type McpReply, type McpTool } from './tool.ts';

/** Talking to an agent, for whoever has one or many: the platform names the agent, an agent is the one that is meant. */

export interface Talk<Caller> {
  /** Gives the message; settles when the agent has answered, and goes on without us when the signal is aborted. */
  ask: (agent: string, said: { message: string; conversation: string }, call: McpCall<Caller>) => Promise<Asked>;
  conversations: (agent: string, call: McpCall<Caller>) => Promise<Conversation[]>;
  /** The newest events of a conversation; undefined: there is none of that name. */
  read: (
    agent: string,
    conversation: string,
    call: McpCall<Caller>,
  ) => Promise<(Conversation & { events: readonly LoggedEvent[] }) | undefined>;
  newName: () => string;
}

export interface Asked {
  reply: string;
  isError?: boolean;
}

export interface Conversation {
  conversation: string;
  /** idle, open (it works), or waiting (for its owner) */
  status: string;
  updatedAt: string;
}

/** Most clients give a call a minute. */
const WAIT_SECONDS = 45;
const MOST_SECONDS = 600;
const MOST_CHARACTERS = 100_000;

const name = z
  .string()
  .regex(/^[\w:.@+-]{1,150}$/, 'A conversation is named by letters, digits and - _ : . @ +')
  .describe('Name of the conversation; the same name goes on with it');
const wait = z
  .int()
  .min(1)
  .max(MOST_SECONDS)
  .default(WAIT_SECONDS)
  .describe('Seconds to wait for the answer; the agent goes on afterwards');
const message = z.string().trim().min(1, 'Message required').max(MOST_CHARACTERS);

/** `about` are the arguments that say which agent; `which` reads them. */
export function talkTools<Caller>(
  talk: Talk<Caller>,
  about: z.ZodRawShape,
  which: (args: Record<string, unknown>) => string,
): McpTool<Caller>[] {
  return [
    mcpTool({
      name: 'ask_agent',
      title: 'Ask an agent',
      description:
        'Say something to the agent and wait for its answer. It may use its own tools. When it needs longer, read the conversation later.',
      args: z.object({ ...about, message, conversation: name.optional(), wait_seconds: wait }),
      scope: 'agents:talk',
      run: (args, call) => ask(talk, args as unknown as AskArgs, which(args), call),
    }),
    mcpTool({
      name: 'read_conversation',
      title: 'Read a conversation',
      description: 'The newest messages of a conversation with the agent, and whether it still works.',
      args: z.object({ ...about, conversation: name }),
      scope: 'agents:read',
      readOnly: true,
      run: (args, call) => read(talk, which(args), (args as unknown as AskArgs).conversation!, call),
    }),
    mcpTool({
      name: 'list_conversations',
      title: 'List conversations',
      description: 'Conversations with the agent, the newest first.',
      args: z.object({ ...about }),
      scope: 'agents:read',
      readOnly: true,
      async run(args, call) {
        const conversations = await talk.conversations(which(args), call);
        return listed('conversations', conversations);
      },
    }),
  ];
}

interface AskArgs {
  message: string;
  conversation?: string;
  wait_seconds: number;
}

async function ask<Caller>(
  talk: Talk<Caller>,
  { message: said, conversation = talk.newName(), wait_seconds: seconds }: AskArgs,
  agent: string,
  call: McpCall<Caller>,
): Promise<McpReply> {
  const late = AbortSignal.timeout(seconds * 1000);
  const signal = AbortSignal.any([call.signal, late]);
  try {
    const { reply, isError } = await talk.ask(agent, { message: said, conversation }, { ...call, signal });
    return {
      text: reply || '(no answer)',
      data: { conversation, status: 'answered', reply },
      ...(isError === true && { isError }),
    };
  } catch (error) {
    if (!late.aborted || call.signal.aborted) throw error;
    return {
      text: `The agent still works on it. Read the conversation ${conversation} later.`,
      data: { conversation, status: 'working', reply: null },
    };
  }
}

async function read<Caller>(
  talk: Talk<Caller>,
  agent: string,
  conversation: string,
  call: McpCall<Caller>,
): Promise<McpReply> {
  const found = await talk.read(agent, conversation, call);
  if (!found) return { text: `There is no conversation ${conversation}.`, isError: true };
  const messages = lastMessages(found.events);
  const lines = messages.map(({ role, content }) => `${role}: ${content}`);
  return {
    text: [...lines, `[${STATUS[found.status] ?? found.status}]`].join('\n\n'),
    data: { conversation, status: found.status, messages },
  };
}

const STATUS: Readonly<Record<string, string>> = {
  idle: 'answered',
  open: 'the agent works on it',
  waiting: 'the agent waits for its owner’s approval',
};

/** A list as text and as data. */
export const listed = (key: string, rows: readonly object[]): McpReply => ({
  text: rows.length === 0 ? `No ${key}.` : rows.map((row) => JSON.stringify(row)).join('\n'),
  data: { [key]: rows },
});
