import { shapedError, type backend, type TypesOf } from '@troupe/contract';
import type { AssistantMessage, ChatDelta, ChatMessage, ChatRequest, Thought } from '../types.ts';
import type { Face, StreamWriter } from './face.ts';
import { reasoningOf } from './openai-request.ts';
import { detailOf, thoughtsOf } from './thoughts.ts';

/** OpenAI's chat completions, for callers. */

type Body = TypesOf<typeof backend.v1.completeChat>['body'];

/** One value is taken, which is what everybody gets. */
const SETTLED: ReadonlySet<string> = new Set(['logprobs', 'top_logprobs', 'modalities']);

export const chatFace: Face<Body> = {
  errors: 'openai',
  wantsStream: ({ stream }) => stream === true,

  request(body) {
    const {
      stream: _,
      stream_options: __,
      n: ___,
      max_completion_tokens: limit,
      reasoning_effort: effort,
      reasoning,
      messages,
      ...rest
    } = body;
    const request: Record<string, unknown> = {
      ...rest,
      messages: messages.some(hasThoughts) ? messages.map(withThoughts) : messages,
      max_tokens: limit ?? rest.max_tokens,
    };
    if (effort || reasoning) Object.assign(request, reasoningOf({ reasoning_effort: effort, reasoning }));
    // As if they had been left out.
    for (const name in request) if (request[name] === null || SETTLED.has(name)) delete request[name];
    return request as unknown as ChatRequest;
  },

  reply: ({ id, model, provider, message, finishReason, usage }, { created }) => ({
    id,
    object: 'chat.completion',
    created,
    model,
    provider,
    choices: [{ index: 0, message: messageOf(message), logprobs: null, finish_reason: finishReason }],
    usage,
  }),

  writer: ({ body, created }) => chatWriter(created, body.stream_options?.include_usage ?? false),
};

type Given = Body['messages'][number];

const hasThoughts = (message: Given): boolean =>
  message.role === 'assistant' && Boolean(message.reasoning_content || message.reasoning_details?.length);

function withThoughts(message: Given): ChatMessage {
  if (message.role !== 'assistant') return message;
  const { reasoning_content: content, reasoning_details: details, ...rest } = message;
  const thoughts = thoughtsOf({ reasoning_content: content, reasoning_details: details });
  return thoughts ? { ...rest, thoughts } : rest;
}

const textOf = (thoughts: readonly Partial<Thought>[]): string => thoughts.map(({ text }) => text ?? '').join('');

function messageOf({ thoughts, refused, ...given }: AssistantMessage): object {
  const message = refused ? { ...given, content: null, refusal: given.content } : { ...given, refusal: null };
  if (!thoughts?.length) return message;
  const text = textOf(thoughts);
  return {
    ...message,
    ...(text ? { reasoning_content: text } : {}),
    reasoning_details: thoughts.map(detailOf),
  };
}

function spoken({ content, toolCalls, thoughts, refused }: ChatDelta, role: string | undefined): object {
  if (refused) return { role, refusal: content };
  if (!thoughts) return { role, content, tool_calls: toolCalls };
  return {
    role,
    content,
    tool_calls: toolCalls,
    reasoning_content: textOf(thoughts) || undefined,
    reasoning_details: thoughts.map((thought) => detailOf(thought, thought.index)),
  };
}

/** The head is the same in every chunk of an answer, and making it costs more than the rest. */
export function chatWriter(created: number, includeUsage: boolean): StreamWriter {
  let role: string | undefined = 'assistant';
  let head = '';
  return {
    write(deltas) {
      let text = '';
      for (const delta of deltas) {
        const { id, model, finishReason, usage } = delta;
        head ||= `data: {"id":${JSON.stringify(id)},"object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(model)}`;
        const said = JSON.stringify(spoken(delta, role));
        role = undefined;
        text += `${head},"choices":[{"index":0,"delta":${said},"finish_reason":${JSON.stringify(finishReason ?? null)}}]}\n\n`;
        if (usage && includeUsage) text += `${head},"choices":[],"usage":${JSON.stringify(usage)}}\n\n`;
        if (finishReason) text += 'data: [DONE]\n\n';
      }
      return text;
    },
    fail: ({ status, message, more }) =>
      `data: ${JSON.stringify(shapedError('openai', status, { code: status, ...more, error: message }))}\n\n`,
  };
}
