import { z } from 'zod';
import type { BlobFence } from '@troupe/db';
import type { AgentDefinition, ApprovalRule, RunLimits } from '@troupe/domain';
import type { Attachment, Question, Spent } from '../session/events.ts';
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
  /** What a person said to what this call asks. */
  answer?: string | undefined;
  /** Somebody can be asked in the middle of the call; `said`: what they said, when it goes on. Left out: nobody can. */
  person?: { said?: PersonSaid | undefined } | undefined;
  /** The session whose memory stores it may use; left out: it has none. */
  stores?: string | undefined;
  /** What goes on between the calls of a run, and ends with it. */
  held: Held;
}

/** What a person said to a question; not approved: they do not want to answer. */
export interface PersonSaid {
  question: Question;
  approved: boolean;
  answer?: string | undefined;
}

/** Something that goes on between calls: a browser, commands in the background. */
export interface Holding {
  close: () => Promise<void>;
}

export interface Held {
  /** What is held under a name, made when it is first asked for. One that could not be made is asked for anew. */
  get: <T extends Holding>(name: string, make: () => Promise<T> | T) => Promise<T>;
  /** What is held under it; undefined: nothing is. */
  find: <T extends Holding>(name: string) => Promise<T | undefined>;
  /** Ends one of them, or all. */
  drop: (name?: string) => Promise<void>;
}

export function createHeld(): Held {
  const all = new Map<string, Promise<Holding>>();
  async function end(name: string): Promise<void> {
    const found = all.get(name);
    all.delete(name);
    // What could not be made was told to who asked for it.
    await (await found?.catch(() => undefined))?.close();
  }
  return {
    async get<T extends Holding>(name: string, make: () => Promise<T> | T) {
      const known = all.get(name);
      if (known) return (await known) as T;
      const made = Promise.resolve().then(make);
      all.set(name, made);
      made.catch(() => {
        if (all.get(name) === made) all.delete(name);
      });
      return made;
    },
    find: async <T extends Holding>(name: string) => (await all.get(name)?.catch(() => undefined)) as T | undefined,
    async drop(name) {
      await Promise.all((name === undefined ? [...all.keys()] : [name]).map(end));
    },
  };
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
  /** The call is not over: somebody is asked first, and it is run again with what they say. */
  asks?: Question;
  /** Pictures of the workspace that go with it: shown to people, and to models that see. */
  pictures?: readonly Attachment[];
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
  /** What holds for it where the agent's rules do not name it: its server's owner has said so for all agents. */
  rule?: ApprovalRule;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
  /** After a crash in the middle it may simply run again. */
  repeatable: boolean;
  /** What it asks a person, who is waited for before it runs; undefined: these arguments are no question. */
  asks?: (args: unknown) => Question | undefined;
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
