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
} from './fields.ts';

/** OpenAI's responses. Nothing is stored: every request brings the whole conversation. */

const NOT_STORED = 'nothing is stored here: send the items themselves, with store set to false';
const ITEM =
  'an item must be of type message, function_call, function_call_output, custom_tool_call, custom_tool_call_output or reasoning';
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
      image_url: z.string('input_image needs an image_url: nothing is stored here that a file_id could name').min(1),
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
  ],
  {
    error: ({ input }) =>
      (input as { type?: unknown } | null)?.type === 'item_reference' ? `item_reference: ${NOT_STORED}` : ITEM,
  },
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

const refused = (name: string) => z.null(`${name}: ${NOT_STORED}`).optional();

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
    'OpenAI-compatible response, with any model; with `stream` server-sent events. Nothing is stored, whatever `store` says: the reply has `store: false`',
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
      text: z.object({ format: format.nullish() }),
      store: z.boolean(),
      stream: z.boolean(),
      background: z.literal(false, `background: ${NOT_STORED}`),
      metadata: z.record(z.string(), z.string()),
      truncation: z.literal('disabled', 'truncation must be disabled: nothing is left out'),
      user: z.string().max(1000),
      prompt_cache_key: z.string().max(1000),
    }),
    previous_response_id: refused('previous_response_id'),
    conversation: refused('conversation'),
  }),
  reply: z.looseObject({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.number(),
    status: z.enum(['completed', 'incomplete', 'failed', 'in_progress']),
    model: z.string(),
    output: z.array(z.looseObject({ type: z.string(), id: z.string() })),
    store: z.literal(false),
    usage: z.looseObject({ input_tokens: z.number(), output_tokens: z.number(), total_tokens: z.number() }),
  }),
  errors: { ...MODEL_ERRORS, 400: [REFUSED, `<field>: ${NOT_STORED}`, ITEM, TOOL] },
});
