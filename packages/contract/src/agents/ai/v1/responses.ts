import { z } from 'zod';
import { endpoint } from '../../../endpoint.ts';
import {
  effort,
  firstOf,
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

/** OpenAI's responses: kept for their caller to look up and to go on from, unless `store` is false. */

const ITEM =
  'an item must be of type message, function_call, function_call_output, custom_tool_call, custom_tool_call_output, reasoning or item_reference';
const BACKGROUND = 'background: a response is answered at once, or streamed';
const CONVERSATION = 'conversation: name the response before with previous_response_id instead';
const NO_STORE = '<field>: nothing is stored for this caller; send the items themselves, with store set to false';
const text = z.string();

const part = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.enum(['input_text', 'output_text', 'text', 'summary_text', 'reasoning_text']), text }),
    z
      .object({ type: z.literal('refusal'), refusal: text })
      .transform(({ refusal }) => ({ type: 'output_text' as const, text: refusal })),
    z.object({
      type: z.literal('input_image'),
      image_url: z.string('input_image needs an image_url: there are no files here that a file_id could name').min(1),
      detail: z.string().nullish(),
    }),
    z.object({
      type: z.literal('input_file'),
      filename: z.string().max(500).nullish(),
      file_data: z.string().min(1).nullish(),
      file_url: z.string().min(1).nullish(),
    }),
  ],
  'a part must be of type input_text, output_text, refusal, input_image or input_file',
);
const output = z.union([text, z.array(part)]);
const callId = z.string().min(1);

const message = z.object({
  type: z.literal('message').optional(),
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content: output,
});
const items = z.discriminatedUnion(
  'type',
  [
    message.extend({ type: z.literal('message') }),
    z.object({
      type: z.literal('function_call'),
      call_id: callId,
      name: z.string().min(1),
      namespace: z.string().nullish(),
      arguments: text,
    }),
    z.object({ type: z.literal('function_call_output'), call_id: callId, output }),
    z.object({
      type: z.literal('custom_tool_call'),
      call_id: callId,
      name: z.string().min(1),
      namespace: z.string().nullish(),
      input: text,
    }),
    z.object({ type: z.literal('custom_tool_call_output'), call_id: callId, output }),
    z.object({
      type: z.literal('reasoning'),
      summary: z.array(z.object({ type: z.string(), text })).default([]),
      content: z.array(z.object({ type: z.string(), text })).nullish(),
      encrypted_content: text.nullish(),
    }),
    z.object({ type: z.literal('item_reference'), id: z.string().min(1).max(200) }),
  ],
  ITEM,
);
/** A message may come without its type. */
const item = z.preprocess(
  (given) =>
    typeof given === 'object' && given !== null && !('type' in given) && 'role' in given
      ? { ...given, type: 'message' }
      : given,
  items,
);

const TOOL = 'tools must be of type function, custom or namespace: none are run by the server';
const functionTool = z.object({
  type: z.literal('function'),
  name: toolName,
  description: text.nullish(),
  parameters: schemaObject.nullish(),
  strict: z.boolean().nullish(),
});
const customTool = z.object({
  type: z.literal('custom'),
  name: toolName,
  description: text.nullish(),
  format: schemaObject.nullish(),
});
const tool = z.discriminatedUnion(
  'type',
  [
    functionTool,
    customTool,
    z.object({
      type: z.literal('namespace'),
      name: toolName,
      tools: z.array(z.discriminatedUnion('type', [functionTool, customTool], TOOL)).max(MOST_TOOLS),
    }),
    // Some clients always name it: it is taken, and left out.
    z.object({ type: z.enum(['web_search', 'web_search_preview']) }),
  ],
  TOOL,
);

const format = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    name: z.string().min(1).max(200),
    schema: schemaObject,
    strict: z.boolean().nullish(),
    description: text.nullish(),
  }),
]);

const response = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.number(),
  status: z.enum(['completed', 'incomplete', 'failed', 'in_progress']),
  model: z.string(),
  output: z.array(z.looseObject({ type: z.string(), id: z.string() })),
  store: z.boolean(),
  usage: z.looseObject({ input_tokens: z.number(), output_tokens: z.number(), total_tokens: z.number() }),
});

export const createResponse = endpoint({
  service,
  method: 'POST',
  path: '/v1/responses',
  auth: 'internalOrKey',
  tag,
  pages: true,
  errorShape: 'openai',
  bodyLimit: MOST_BODY,
  summary:
    'OpenAI-compatible response, with any model; with `stream` server-sent events. Kept for 30 days for who comes with an API key, unless `store` is false; `previous_response_id` goes on from one that is kept',
  body: z.object({
    input: z.union([z.string(), z.array(item).min(1)], {
      error: (issue) => firstOf(issue) ?? 'input must be a text or a list of items',
    }),
    ...orNull({
      model: modelName,
      instructions: text,
      tools: z.array(tool).max(MOST_TOOLS),
      tool_choice: z.union([
        z.enum(['auto', 'none', 'required']),
        z.object({ type: z.enum(['function', 'custom']), name: z.string() }),
      ]),
      parallel_tool_calls: z.boolean(),
      max_output_tokens: tokenLimit,
      temperature: z.number().min(0).max(2),
      top_p: z.number().min(0).max(1),
      reasoning: z.object({ effort: effort.nullish(), summary: text.nullish() }),
      text: z.object({ format: format.nullish(), verbosity: verbosity.nullish() }),
      top_logprobs: z.literal(0, 'top_logprobs: how likely a token was is not told'),
      store: z.boolean(),
      stream: z.boolean(),
      background: z.literal(false, BACKGROUND),
      metadata: z.record(z.string(), z.string()),
      truncation: z.literal('disabled', 'truncation must be disabled: nothing is left out'),
      user: z.string().max(1000),
      prompt_cache_key: z.string().max(1000),
    }),
    previous_response_id: z.string().min(1).max(200).nullish(),
    conversation: z.null(CONVERSATION).optional(),
    prompt: z.null('prompt: no prompts are kept here; send instructions and input').optional(),
    max_tool_calls: z.null('max_tool_calls: the server calls no tools; count the calls that you answer').optional(),
    context_management: z
      .null('context_management: nothing is left out or summed up here; send the items that matter')
      .optional(),
  }),
  reply: response,
  errors: {
    ...MODEL_ERRORS,
    400: [
      REFUSED,
      ITEM,
      TOOL,
      BACKGROUND,
      CONVERSATION,
      NO_STORE,
      'previous_response_id: there is no response <id>',
      'previous_response_id: an earlier response of this conversation is no longer kept; send the items themselves',
      'item_reference: there is no item <id>',
    ],
    413: [...MODEL_ERRORS[413], 'previous_response_id: the conversation has become too long; send what matters of it'],
  },
});

const stored = {
  service,
  auth: 'internalOrKey',
  tag,
  pages: true,
  errorShape: 'openai',
  params: z.object({ id: z.string().min(1).max(200) }),
} as const;
const NOT_FOUND = { 404: ['Response <id> not found'], 429: ['AI rate limit exceeded.'] } as const;
const STREAM = 'stream: a response that is kept is whole; ask for it without stream';

export const getResponse = endpoint({
  ...stored,
  method: 'GET',
  path: '/v1/responses/:id',
  summary: 'A response that is kept',
  query: z.looseObject({ stream: z.literal('false', STREAM).optional() }),
  reply: response,
  errors: { ...NOT_FOUND, 400: [STREAM] },
});

export const deleteResponse = endpoint({
  ...stored,
  method: 'DELETE',
  path: '/v1/responses/:id',
  summary: 'Forget a response; those that went on from it cannot be gone on from any more',
  reply: z.object({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) }),
  errors: NOT_FOUND,
});

const CANCEL = 'Only a response in the background can be cancelled, and there are none';

export const cancelResponse = endpoint({
  ...stored,
  method: 'POST',
  path: '/v1/responses/:id/cancel',
  summary: 'Refused: a response that is kept is over',
  errors: { ...NOT_FOUND, 400: [CANCEL] },
});

const LIMIT = 'limit must be a number from 1 to 100';

export const listResponseInput = endpoint({
  ...stored,
  method: 'GET',
  path: '/v1/responses/:id/input_items',
  summary: 'What a response was asked with, the newest item first unless `order` says otherwise',
  query: z.looseObject({
    limit: z.coerce.number(LIMIT).int(LIMIT).min(1, LIMIT).max(100, LIMIT).default(20),
    order: z.enum(['asc', 'desc'], 'order must be asc or desc').default('desc'),
    after: z.string().max(200).optional(),
  }),
  reply: z.object({
    object: z.literal('list'),
    data: z.array(z.looseObject({ type: z.string(), id: z.string() })),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  }),
  errors: NOT_FOUND,
});
