import type { ChatDelta, ChatRequest, ChatResult, ModelClient } from '@troupe/ai';
import type { Database } from '@troupe/db';
import { silentLog } from '@troupe/kernel';
import { sql } from 'kysely';
import { newDefinition, type AgentDefinition } from '@troupe/domain';
import { createSqliteStore } from './store/store-sqlite.ts';
import type { AgentStore } from './store/store.ts';
import { z } from 'zod';
import { tool, type Tool } from './tools/tool.ts';
import { wakeAgent, type AgentDeps } from './wake.ts';

/** A model whose answers a test writes, and an agent around it. */

type Reply = string | { say?: string; calls: { tool: string; args: unknown }[] };
export type Script = (request: ChatRequest, turn: number, signal: AbortSignal | undefined) => Reply | Promise<Reply>;

export const TOKENS_A_CALL = 15;

export function scriptedModel(script: Script): ModelClient & { requests: ChatRequest[] } {
  const requests: ChatRequest[] = [];
  async function chat(request: ChatRequest, { signal }: { signal?: AbortSignal } = {}): Promise<ChatResult> {
    requests.push(request);
    const reply = await script(request, requests.length, signal);
    signal?.throwIfAborted();
    const { say = '', calls } = typeof reply === 'string' ? { say: reply, calls: [] } : reply;
    const made = calls.map(({ tool, args }, index) => ({
      id: `call-${index}`,
      type: 'function' as const,
      function: { name: tool, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
    }));
    return {
      id: `r${requests.length}`,
      model: request.model ?? '',
      provider: 'script',
      message: { role: 'assistant', content: say, ...(made.length > 0 && { tool_calls: made }) },
      finishReason: made.length > 0 ? 'tool_calls' : 'stop',
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: TOKENS_A_CALL },
      usageEstimated: false,
      costMicros: 100,
    };
  }
  async function* stream(request: ChatRequest, options?: { signal?: AbortSignal }): AsyncGenerator<ChatDelta> {
    const { id, model, provider, message, ...rest } = await chat(request, options);
    const base = { id, model, provider };
    for (const word of (message.content ?? '').match(/\S+\s*/g) ?? []) yield { ...base, content: word };
    for (const [index, call] of (message.tool_calls ?? []).entries())
      yield { ...base, toolCalls: [{ index, ...call }] };
    yield { ...base, ...rest };
  }
  return { chat, stream, requests };
}

/** The text of the newest message that the model was shown. */
export const lastText = ({ messages }: ChatRequest): string => String(messages.at(-1)?.content ?? '');

export interface TestAgentOptions extends Partial<AgentDeps> {
  script?: Script;
  definition?: Partial<AgentDefinition>;
  toolList?: readonly Tool[];
}

export async function testAgent({
  script = () => 'ok',
  definition = {},
  toolList = [],
  ...deps
}: TestAgentOptions = {}) {
  const store: AgentStore = deps.store ?? createSqliteStore({ file: ':memory:', agentId: 'agent' });
  const model = scriptedModel(script);
  if (!(await store.definition())) await store.saveDefinition(newDefinition({ name: 'Ada', tools: [], ...definition }));
  const agent = wakeAgent({
    agentId: 'agent',
    model,
    tools: async () => toolList,
    log: silentLog,
    pollMs: 20,
    ...deps,
    store,
  });
  return { agent, store, model };
}

/** A user and an agent of theirs, as rows. */
export async function makeAgentRow(db: Database, userId: string, agentId: string): Promise<void> {
  await sql`insert into users (id, email, name, referral_code, created_at, updated_at)
    values (${userId}, ${`${userId}@test`}, ${userId}, ${userId}, now(), now()) on conflict do nothing`.execute(
    db.system,
  );
  await sql`insert into agents (id, user_id, name) values (${agentId}, ${userId}, 'A') on conflict do nothing`.execute(
    db.system,
  );
}

export const web = { channel: 'web', key: 'test' };

/** A tool that notes what it was asked to count. */
export const counter = (toolset = 'count', repeatable = false) => {
  const seen: string[] = [];
  return {
    seen,
    tool: tool({
      name: 'count',
      toolset,
      description: 'counts',
      args: z.object({ what: z.string() }),
      repeatable,
      run: async ({ what }) => {
        seen.push(what);
        return `${what} is ${seen.length}`;
      },
    }),
  };
};

/** A script that calls it once and repeats its result. */
export const callOnce =
  (what = 'x') =>
  (request: { messages: { role: string }[] }) =>
    request.messages.at(-1)?.role === 'tool'
      ? `told: ${(request.messages.at(-1) as unknown as { content: string }).content}`
      : { calls: [{ tool: 'count', args: { what } }] };

/** A script that asks its person for a colour and repeats what it heard. */
export const asking = (request: { messages: { role: string; content?: unknown }[] }) => {
  const last = request.messages.at(-1);
  return last?.role === 'tool'
    ? `told: ${String(last.content)}`
    : { calls: [{ tool: 'user_prompt', args: { message: 'Which colour?', options: ['red', 'blue'] } }] };
};
