import { z } from 'zod';
import { endpoint } from '../../../endpoint.ts';
import {
  cacheControl,
  effort,
  MODEL_ERRORS,
  REFUSED,
  modelName,
  MOST_BODY,
  MOST_TOOLS,
  orNull,
  schemaObject,
  service,
  tag,
  tokenLimit,
  toolName,
  verbosity,
} from './fields.ts';

/** OpenAI's chat completions. */

const marked = { cache_control: cacheControl.nullish().transform((mark) => mark ?? undefined) };
const textPart = z.object({ type: z.literal('text'), text: z.string(), ...marked });
const imagePart = z.object({
  type: z.literal('image_url'),
  image_url: z.object({ url: z.string().min(1), detail: z.string().optional() }),
  ...marked,
});
const filePart = z.object({
  type: z.literal('file'),
  file: z.object({ filename: z.string().max(500).optional(), file_data: z.string().min(1) }),
  ...marked,
});
const refusalPart = z
  .object({ type: z.literal('refusal'), refusal: z.string() })
  .transform(({ refusal }) => ({ type: 'text' as const, text: refusal }));

const CONTENT =
  'the content of a message must be a text, or a list of parts of type text, image_url or file (with file_data)';
const content = z.union(
  [z.string(), z.array(z.discriminatedUnion('type', [textPart, imagePart, filePart])).min(1)],
  CONTENT,
);
const assistantContent = z.union(
  [z.string(), z.array(z.union([textPart, refusalPart]))],
  'the content of an assistant must be a text, or a list of parts of type text or refusal',
);

const toolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
  // What Gemini wants to see again.
  extra_content: z.object({ google: z.object({ thought_signature: z.string().optional() }).optional() }).optional(),
});

const tool = z.object({
  type: z.literal('function', 'a tool must be of type function'),
  function: z.object({
    name: toolName,
    description: z.string().optional(),
    parameters: schemaObject.optional(),
    strict: z.boolean().nullish(),
  }),
  ...marked,
});

const toolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) }),
]);

export const MESSAGES_REQUIRED = 'Messages array is required';

/** What all chat endpoints take. Parameters that are not here are ignored. */
export const chatParameters = {
  model: modelName.optional(),
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
  max_tokens: tokenLimit.optional(),
  stop: z.union([z.string(), z.array(z.string()).max(16)]).optional(),
  seed: z.int().optional(),
  presence_penalty: z.number().min(-2).max(2).optional(),
  frequency_penalty: z.number().min(-2).max(2).optional(),
  response_format: schemaObject.optional(),
  tools: z.array(tool).max(MOST_TOOLS).optional(),
  tool_choice: toolChoice.optional(),
  parallel_tool_calls: z.boolean().optional(),
  stream: z.boolean().default(false),
};

export const chatUsage = z.object({
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  total_tokens: z.number(),
  prompt_tokens_details: z.object({ cached_tokens: z.number(), cache_write_tokens: z.number().optional() }).optional(),
  completion_tokens_details: z.object({ reasoning_tokens: z.number() }).optional(),
});

export const assistantMessage = z.object({
  role: z.literal('assistant'),
  content: z.string().nullable(),
  tool_calls: z.array(toolCall).optional(),
});

const reasoningDetail = z.looseObject({ type: z.string() });

const openaiMessage = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'developer', 'user']), content }),
  z.object({
    role: z.literal('assistant'),
    content: assistantContent.nullish(),
    reasoning_content: z.string().nullish(),
    reasoning_details: z.array(reasoningDetail).max(1000).nullish(),
    // Providers refuse null and an empty list here.
    tool_calls: z
      .array(toolCall)
      .nullish()
      .transform((calls) => (calls?.length ? calls : undefined)),
  }),
  z.object({ role: z.literal('tool'), content, tool_call_id: z.string() }),
]);

export const completeChat = endpoint({
  service,
  method: 'POST',
  path: '/v1/chat/completions',
  auth: 'internalOrKey',
  tag,
  pages: true,
  errorShape: 'openai',
  bodyLimit: MOST_BODY,
  summary: 'OpenAI-compatible chat completion, for the internal key or an API key of a user',
  body: z.object({
    messages: z.array(openaiMessage, MESSAGES_REQUIRED).min(1, MESSAGES_REQUIRED),
    ...orNull({
      ...chatParameters,
      max_completion_tokens: tokenLimit,
      stream_options: z.object({ include_usage: z.boolean().nullish() }),
      reasoning_effort: effort,
      reasoning: z.object({
        effort: effort.nullish(),
        max_tokens: tokenLimit.nullish(),
        enabled: z.boolean().nullish(),
      }),
      top_k: z.int().min(0).max(100_000),
      prompt_cache_key: z.string().max(1000),
      verbosity,
      // Ignored, it would look as if the others had been lost.
      n: z.literal(1, 'n must be 1: one choice is given'),
      logprobs: z.literal(false, 'logprobs: how likely a token was is not told'),
      top_logprobs: z.literal(0, 'top_logprobs: how likely a token was is not told'),
      modalities: z.array(z.literal('text', 'modalities must be text: answers are words')),
    }),
    audio: z.null('audio: answers are words').optional(),
    functions: z.null('functions is an older name: give tools instead').optional(),
    function_call: z.null('function_call is an older name: give tool_choice instead').optional(),
  }),
  reply: z.object({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.number(),
    model: z.string(),
    provider: z.string(),
    choices: z.array(
      z.object({
        index: z.number(),
        message: assistantMessage.extend({
          refusal: z.string().nullable(),
          reasoning_content: z.string().optional(),
          reasoning_details: z.array(reasoningDetail).optional(),
        }),
        logprobs: z.null(),
        finish_reason: z.string(),
      }),
    ),
    usage: chatUsage,
  }),
  errors: { ...MODEL_ERRORS, 400: [REFUSED, MESSAGES_REQUIRED] },
});
