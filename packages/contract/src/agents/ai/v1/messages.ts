import { z } from 'zod';
import { endpoint } from '../../../endpoint.ts';
import {
  cacheControl,
  effort,
  firstOf,
  MODEL_ERRORS,
  REFUSED,
  modelName,
  MOST_BODY,
  MOST_TOOLS,
  schemaObject,
  service,
  tag,
  tokenLimit,
  toolName,
} from './fields.ts';

/** Anthropic's messages. */

const marked = { cache_control: cacheControl.nullish() };
const textBlock = z.object({ type: z.literal('text'), text: z.string(), ...marked });

const SOURCE = 'a source must be of type base64, text or url: nothing is stored here that a file_id could name';
const source = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('base64'), media_type: z.string().min(1).max(200), data: z.string() }),
    z.object({ type: z.literal('text'), media_type: z.string().min(1).max(200), data: z.string() }),
    z.object({ type: z.literal('url'), url: z.string().min(1) }),
  ],
  SOURCE,
);
const imageBlock = z.object({ type: z.literal('image'), source, ...marked });
const documentBlock = z.object({
  type: z.literal('document'),
  source,
  title: z.string().max(500).nullish(),
  ...marked,
});

const shown = [textBlock, imageBlock, documentBlock] as const;
const SHOWN = 'the content of a tool_result must be a text, or blocks of type text, image or document';
const toolResult = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string().min(1),
  content: z.union([z.string(), z.array(z.discriminatedUnion('type', [...shown]))], SHOWN).optional(),
  is_error: z.boolean().optional(),
  ...marked,
});
const block = z.discriminatedUnion(
  'type',
  [
    ...shown,
    toolResult,
    z.object({
      type: z.literal('tool_use'),
      id: z.string().min(1),
      name: z.string().min(1),
      input: z.unknown(),
      ...marked,
    }),
    z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string().optional() }),
    z.object({ type: z.literal('redacted_thinking'), data: z.string() }),
  ],
  'a block must be of type text, image, document, tool_use, tool_result, thinking or redacted_thinking',
);

const BAD_CONTENT = 'the content of a message must be a text or a list of blocks';

const message = z.object({
  role: z.enum(['user', 'assistant', 'system']),
  content: z.union([z.string(), z.array(block)], {
    error: (issue) => firstOf(issue) ?? BAD_CONTENT,
  }),
});

const tool = z.object({
  type: z.literal('custom', 'tools must be your own (type custom): none are run by the server').nullish(),
  name: toolName,
  description: z.string().optional(),
  input_schema: schemaObject,
  strict: z.boolean().nullish(),
  ...marked,
});

const prompt = {
  model: modelName,
  messages: z
    .array(message, 'messages: at least one message is required')
    .min(1, 'messages: at least one message is required'),
  system: z.union([z.string(), z.array(textBlock)]).optional(),
  tools: z.array(tool).max(MOST_TOOLS).optional(),
  tool_choice: z
    .object({
      type: z.enum(['auto', 'any', 'tool', 'none']),
      name: z.string().optional(),
      disable_parallel_tool_use: z.boolean().optional(),
    })
    .optional(),
  thinking: z
    .object({ type: z.enum(['enabled', 'disabled', 'adaptive']), budget_tokens: tokenLimit.optional() })
    .optional(),
  output_config: z
    .object({
      effort: effort.nullish(),
      format: z.object({ type: z.literal('json_schema'), schema: schemaObject }).nullish(),
    })
    .optional(),
  /** Up to the last block of the prompt. */
  ...marked,
  mcp_servers: z.array(z.unknown()).max(0, 'mcp_servers is not supported: give the tools instead').optional(),
};

const shared = {
  service,
  method: 'POST',
  auth: 'internalOrKey',
  tag,
  pages: true,
  errorShape: 'anthropic',
  bodyLimit: MOST_BODY,
} as const;

export const createMessage = endpoint({
  ...shared,
  path: '/v1/messages',
  summary:
    'Anthropic-compatible message, with any model; the key as `x-api-key` or bearer. With `stream` server-sent events',
  body: z.object({
    ...prompt,
    max_tokens: tokenLimit,
    stop_sequences: z.array(z.string()).max(16).optional(),
    temperature: z.number().min(0).max(1).optional(),
    top_p: z.number().min(0).max(1).optional(),
    top_k: z.int().min(0).max(100_000).optional(),
    stream: z.boolean().optional(),
  }),
  reply: z.object({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string(),
    content: z.array(z.looseObject({ type: z.string() })),
    stop_reason: z.string(),
    stop_sequence: z.string().nullable(),
    usage: z.object({
      input_tokens: z.number(),
      output_tokens: z.number(),
      cache_read_input_tokens: z.number(),
      cache_creation_input_tokens: z.number(),
    }),
  }),
  errors: { ...MODEL_ERRORS, 400: [REFUSED, BAD_CONTENT, 'messages: at least one message is required'] },
});

export const countTokens = endpoint({
  ...shared,
  path: '/v1/messages/count_tokens',
  summary: 'How many tokens a message would be: counted by Anthropic where it serves the model, else estimated',
  body: z.object(prompt),
  reply: z.object({ input_tokens: z.number() }),
  errors: { ...MODEL_ERRORS, 400: [...MODEL_ERRORS[400], BAD_CONTENT] },
});
