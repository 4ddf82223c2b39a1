import { once, EventEmitter } from 'node:events';
import { createStandIn, replyChat, type StandIn, type StandInRequest } from '@troupe/ai/stand-in';

/**
 * A model that does what the user's message says: a JSON list of steps. `{tool, args}` is a tool call, `{wait}` hangs
 * until `go(name)`, `{down: true}` breaks the connection, `{say}` is the answer. A step counts as done when its result is
 * in the conversation.
 */
export type Step = { tool: string; args: object } | { wait: string; say?: string } | { down: true } | { say: string };

export interface Director {
  provider: StandIn;
  /** Model calls that have come in, with the name of the step that they got. */
  calls: { model: string; step: string; at: number; user: string }[];
  go: (name: string) => void;
  /** Settles when a model call waits under this name. */
  waits: (name: string) => Promise<void>;
  /** How many calls of the agent of that name were open at the same time, at most. */
  overlap: (name: string) => number;
}

export const steps = (...list: Step[]): string => JSON.stringify(list);

interface Message {
  role: string;
  content: string | null;
}

/** What it does beside, whoever says so: for a model that heeds each word that it reads. */
export type Heeds = (read: string) => { tool: string; args: object }[];

export async function createDirector(heeds: Heeds = () => []): Promise<Director> {
  const gates = new EventEmitter().setMaxListeners(0);
  const waiting = new Set<string>();
  const calls: Director['calls'] = [];
  const open = new Map<string, number>();
  const most = new Map<string, number>();

  async function answer(request: StandInRequest, response: Parameters<typeof replyChat>[1]): Promise<void> {
    const messages = (request.body['messages'] ?? []) as Message[];
    const told = heeds(JSON.stringify(request.body));
    if (told.length > 0) {
      const toolCalls = told.map(({ tool, args }, index) => ({
        id: `told-${calls.length}-${index}`,
        name: tool,
        arguments: JSON.stringify(args),
      }));
      return replyChat(request, response, { content: null, toolCalls });
    }
    const at = messages.findLastIndex(({ role }) => role === 'user');
    const results = messages.slice(at + 1).filter(({ role }) => role === 'tool');
    const user = messages[at]?.content ?? '';
    const list = user.startsWith('[') ? (JSON.parse(user) as Step[]) : [];
    const done = list.filter((step) => 'tool' in step).slice(0, results.length).length;
    const step = nextStep(list, done) ?? { say: results.at(-1)?.content ?? 'ok' };
    calls.push({ model: String(request.body['model']), step: Object.keys(step)[0]!, at: Date.now(), user });
    if ('down' in step) return void response.destroy();
    if ('wait' in step) {
      waiting.add(step.wait);
      gates.emit(`waits ${step.wait}`);
      await Promise.race([once(gates, `go ${step.wait}`), request.aborted]);
      waiting.delete(step.wait);
      if (response.destroyed) return;
      return replyChat(request, response, { content: step.say ?? 'ok' });
    }
    if ('say' in step) return replyChat(request, response, { content: step.say });
    const { tool, args } = step;
    replyChat(request, response, {
      content: null,
      toolCalls: [{ id: `call-${calls.length}`, name: tool, arguments: JSON.stringify(args) }],
    });
  }

  const provider = await createStandIn(async (request, response) => {
    if (!request.path.endsWith('/chat/completions')) return replyChat(request, response);
    const prompt = ((request.body['messages'] ?? []) as Message[])[0]?.content ?? '';
    const name = /Your name is ([^.( ]+)/.exec(prompt)?.[1] ?? '';
    open.set(name, (open.get(name) ?? 0) + 1);
    most.set(name, Math.max(most.get(name) ?? 0, open.get(name)!));
    response.once('close', () => open.set(name, open.get(name)! - 1));
    await answer(request, response);
  });

  return {
    provider,
    calls,
    go: (name) => void gates.emit(`go ${name}`),
    waits: async (name) => {
      if (!waiting.has(name)) await once(gates, `waits ${name}`);
    },
    overlap: (name) => most.get(name) ?? 0,
  };
}

/** The step after `done` tool results. */
function nextStep(list: readonly Step[], done: number): Step | undefined {
  let tools = 0;
  for (const step of list) {
    if ('tool' in step) {
      if (tools === done) return step;
      tools += 1;
    } else if (tools === done) return step;
  }
  return undefined;
}
