import type { backend, TypesOf } from '@troupe/contract';
import type { ChatUsage, Thought } from '../types.ts';
import type { FaceContext } from './face.ts';

/** The items and the frame of OpenAI's responses, for whole answers and for streams. */

export type Body = TypesOf<typeof backend.v1.createResponse>['body'];

const named = (id: string, prefix: string): string => id.replace(/^chatcmpl-/, prefix);

export const messageItem = (id: string, text: string, status = 'completed', part: Said = textPart) => ({
  id: named(id, 'msg_'),
  type: 'message',
  status,
  role: 'assistant',
  content: [part(text)],
});

export const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });

export const refusalPart = (refusal: string) => ({ type: 'refusal', refusal });

type Said = (text: string) => object;

export const reasoningItem = (id: string, text: string, sealed: string | undefined) => ({
  id: named(id, 'rs_'),
  type: 'reasoning',
  summary: text === '' ? [] : [{ type: 'summary_text', text }],
  ...(sealed === undefined ? {} : { encrypted_content: sealed }),
});

type Tool = NonNullable<Body['tools']>[number];
type Called = Extract<Tool, { type: 'function' | 'custom' }>;

interface Offered {
  tool: Called;
  /** What the model calls it: there are no namespaces in other formats. */
  flat: string;
  namespace: string | undefined;
}

const isCalled = (tool: Tool): tool is Called => tool.type === 'function' || tool.type === 'custom';

export const flatName = (name: string, namespace: string | null | undefined): string =>
  namespace ? `${namespace}__${name}` : name;

/** The tools that a model is offered: those of namespaces by themselves, and none that the server would have to run. */
export function offered({ tools }: Pick<Body, 'tools'>): Offered[] {
  const list = (given: readonly Tool[], namespace?: string): Offered[] =>
    given.flatMap((tool) => {
      if (isCalled(tool)) return [{ tool, flat: flatName(tool.name, namespace), namespace }];
      return tool.type === 'namespace' ? list(tool.tools, tool.name) : [];
    });
  return list(tools ?? []);
}

export interface CallItem {
  id: string;
  type: 'function_call' | 'custom_tool_call';
  status: string;
  call_id: string;
  name: string;
  namespace?: string;
  arguments?: string;
  input?: string;
}

export function callItem(
  id: string,
  callId: string,
  called: string,
  args: string,
  body: Body,
  status = 'completed',
): CallItem {
  const found = offered(body).find(({ flat }) => flat === called);
  const shared = {
    id: named(id, 'fc_'),
    status,
    call_id: callId,
    name: found?.tool.name ?? called,
    ...(found?.namespace === undefined ? {} : { namespace: found.namespace }),
  };
  return found?.tool.type === 'custom'
    ? { ...shared, type: 'custom_tool_call', input: freeInput(args) }
    : { ...shared, type: 'function_call', arguments: args };
}

/** The text of a tool that takes one; a model that keeps to no form said it as it is. */
function freeInput(args: string): string {
  try {
    const { input } = JSON.parse(args) as { input?: unknown };
    return typeof input === 'string' ? input : args;
  } catch {
    return args;
  }
}

/** What a provider wants to see again, as one text that the caller sends back unread. */
export function seal({ signature, redacted }: Thought): string | undefined {
  if (signature === undefined && redacted === undefined) return undefined;
  return Buffer.from(JSON.stringify({ signature, redacted })).toString('base64url');
}

/** Of another's making: nothing of it can be used. */
export function openSeal(sealed: string): Partial<Thought> {
  try {
    const { signature, redacted } = JSON.parse(Buffer.from(sealed, 'base64url').toString('utf8')) as Partial<Thought>;
    return {
      ...(typeof signature === 'string' ? { signature } : {}),
      ...(typeof redacted === 'string' ? { redacted } : {}),
    };
  } catch {
    return {};
  }
}

export const responsesUsage = (usage: ChatUsage) => ({
  input_tokens: usage.prompt_tokens,
  input_tokens_details: { cached_tokens: usage.prompt_tokens_details?.cached_tokens ?? 0 },
  output_tokens: usage.completion_tokens,
  output_tokens_details: { reasoning_tokens: usage.completion_tokens_details?.reasoning_tokens ?? 0 },
  total_tokens: usage.total_tokens,
});

/** All that a response repeats of its request. */
export function outline({ id, model }: { id: string; model: string }, { body, created, kept }: FaceContext<Body>) {
  return {
    id: named(id, 'resp_'),
    object: 'response',
    created_at: created,
    model,
    error: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    reasoning: { effort: body.reasoning?.effort ?? null, summary: body.reasoning?.summary ?? null },
    store: kept !== undefined,
    temperature: body.temperature ?? null,
    text: {
      format: body.text?.format ?? { type: 'text' },
      ...(body.text?.verbosity ? { verbosity: body.text.verbosity } : {}),
    },
    tool_choice: body.tool_choice ?? 'auto',
    tools: (body.tools ?? []).filter((tool) => isCalled(tool) || tool.type === 'namespace'),
    top_p: body.top_p ?? null,
    truncation: 'disabled',
    user: body.user ?? null,
  };
}
