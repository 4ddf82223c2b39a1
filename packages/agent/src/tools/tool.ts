import { z } from 'zod';
import type { BlobFence } from '@troupe/db';
import type { AgentDefinition, RunLimits } from '@troupe/domain';
import type { Spent } from '../session/events.ts';
import type { BackgroundTask, NewTask } from '../store/background.ts';

export interface ToolContext {
  agentId: string;
  sessionId: string;
  callId: string;
  definition: AgentDefinition;
  signal: AbortSignal;
  /** Skills that the conversation has activated. */
  skills?: readonly { name: string; version: string }[];
  /** What the run may still use up: delegated work inherits it. */
  remaining: RunLimits;
  /** The run that it is called in: the input that began it, and how deep in the background it is. */
  run?: { seq: number; depth: number };
  /** Where work goes that is not waited for; left out: nowhere. */
  background?: BackgroundDesk | undefined;
}

export interface BackgroundDesk {
  /** Throws 409 with a sentence where it cannot be taken. */
  start: (task: NewTask) => Promise<void>;
  /** False: it had ended before. */
  stop: (id: string, how: { tells: boolean; says: string }) => Promise<boolean>;
  task: (id: string) => Promise<BackgroundTask | undefined>;
  /** Of a conversation, the newest first. */
  tasks: (sessionId: string) => Promise<BackgroundTask[]>;
}

export interface ToolResult {
  content: string;
  isError?: boolean;
  /** Who has the conversation from now on. */
  handoff?: { agentId: string; name: string };
  /** What the tool used of the run's budget. */
  spent?: Spent;
}

/** What calls of tools write to a workspace that is kept elsewhere. */
export interface RunFiles {
  /** A run begins, or goes on: whatever was known of the files may be old. */
  begin: () => void;
  /** What the call changed is stored, under the session's lease, before its result is told. */
  during: (fence: BlobFence, call: () => Promise<ToolResult>) => Promise<ToolResult>;
}

export interface Tool {
  name: string;
  toolset: string;
  /** What the server that offers it calls it; left out: it is the agent's own. */
  offeredAs?: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
  /** After a crash in the middle it may simply run again. */
  repeatable: boolean;
  run: (args: unknown, context: ToolContext) => Promise<ToolResult>;
}

interface ToolSpec<S extends z.ZodType> {
  name: string;
  toolset: string;
  description: string;
  args: S;
  repeatable: boolean;
  run: (args: z.output<S>, context: ToolContext) => Promise<ToolResult | string>;
}

/** One description for all agents: they differ in what their tools reach, not in what they take. */
const described = new WeakMap<z.ZodType, Tool['parameters']>();

function parametersOf(schema: z.ZodType): Tool['parameters'] {
  const known = described.get(schema);
  if (known) return known;
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: 'input' });
  described.set(schema, parameters);
  return parameters;
}

/** A tool whose arguments are checked before it runs; what does not fit is told to the model, not thrown. */
export function tool<S extends z.ZodType>({ args: schema, run, ...rest }: ToolSpec<S>): Tool {
  return {
    ...rest,
    parameters: parametersOf(schema),
    async run(args, context) {
      const parsed = schema.safeParse(args);
      if (!parsed.success) {
        const issues = parsed.error.issues.map(
          ({ path, message }) => `${path.join('.') || 'arguments'}: ${message.trim()}`,
        );
        return failed(`Invalid arguments. ${issues.join('; ')}`);
      }
      const result = await run(parsed.data, context);
      return typeof result === 'string' ? { content: result } : result;
    },
  };
}

export const failed = (content: string): ToolResult => ({ content, isError: true });
