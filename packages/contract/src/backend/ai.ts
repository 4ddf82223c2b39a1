import { z } from 'zod';
import { timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';

const tag = 'AI';
const service = 'backend';

/** Who is served, vouched for by the internal key. */
const CONTEXT =
  'Headers: x-user-id (default `anonymous`), x-user-email, x-user-role, x-user-plan, x-billing-subscription-id; x-agent-id and x-run-id say on whose account usage and caps count.';

const aiModel = z.object({
  id: z.string(),
  name: z.string(),
  provider: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  inputCost: z.number().describe('USD per million tokens'),
  outputCost: z.number().describe('USD per million tokens'),
  contextWindow: z.number().describe('0: the provider does not say'),
  available: z.boolean(),
});

const providerStates = z.record(z.string(), z.boolean());

export const getAiHealth = endpoint({
  service,
  method: 'GET',
  path: '/api/ai/health',
  auth: 'internal',
  tag,
  summary: 'Which AI providers answer',
  reply: z.object({ status: z.enum(['healthy', 'degraded']), providers: providerStates, timestamp }),
  errors: { 503: ['AI service unavailable'] },
});

export const listAiModels = endpoint({
  service,
  method: 'GET',
  path: '/api/ai/models',
  auth: 'internal',
  tag,
  summary: 'All models: the catalogue and what the providers list',
  reply: z.object({
    models: z.array(aiModel),
    count: z.number(),
    providers: z.record(z.string(), z.number()).describe('How many models each provider serves'),
    timestamp,
  }),
  failure: 'Failed to fetch models',
});

export const listProviderModels = endpoint({
  service,
  method: 'GET',
  path: '/api/ai/models/:provider',
  auth: 'internal',
  tag,
  summary: 'The models of one provider',
  params: z.object({ provider: z.string() }),
  reply: z.object({ provider: z.string(), models: z.array(aiModel), count: z.number(), timestamp }),
  failure: 'Failed to fetch models',
});

const PLAN_ERRORS = {
  402: [
    'Valid subscription required. Choose a plan at /pricing',
    'Active subscription required. Subscribe at /pricing',
  ],
  404: ['No models available'],
} as const;

export const selectAiModel = endpoint({
  service,
  method: 'POST',
  path: '/api/ai/models/select',
  auth: 'internal',
  tag,
  summary: `The model that a task would get, within the plan. ${CONTEXT}`,
  body: z.object({ taskType: z.string().max(100).default('general') }),
  reply: z.object({ model: z.object({ id: z.string(), provider: z.string() }), taskType: z.string(), timestamp }),
  errors: PLAN_ERRORS,
});

const textPart = z.object({ type: z.literal('text'), text: z.string() });
const imagePart = z.object({
  type: z.literal('image_url'),
  image_url: z.object({ url: z.string().min(1), detail: z.string().optional() }),
});
const saidPart = z.discriminatedUnion('type', [textPart.extend({ text: z.string().min(1) }), imagePart]);
const content = z.union([z.string().min(1), z.array(saidPart).min(1)]);

const toolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
});

const tool = z.object({
  type: z.literal('function'),
  function: z.object({
    name: z.string().regex(/^[\w.:-]{1,128}$/),
    description: z.string().optional(),
    parameters: z.record(z.string(), z.unknown()).optional(),
    strict: z.boolean().nullish(),
  }),
});

const toolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) }),
]);

const REQUIRED = 'Messages array is required';

/** What both chat endpoints take. Parameters that are not here are ignored. */
const parameters = {
  model: z
    .string()
    .min(1)
    .regex(/^\P{C}*$/u, 'model must be a name without control characters')
    .max(200)
    .optional(),
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
  max_tokens: z.int().min(1).max(10_000_000).optional(),
  stop: z.union([z.string(), z.array(z.string()).max(16)]).optional(),
  seed: z.int().optional(),
  presence_penalty: z.number().min(-2).max(2).optional(),
  frequency_penalty: z.number().min(-2).max(2).optional(),
  response_format: z.record(z.string(), z.unknown()).optional(),
  tools: z.array(tool).max(256).optional(),
  tool_choice: toolChoice.optional(),
  parallel_tool_calls: z.boolean().optional(),
  stream: z.boolean().default(false),
};

type OrNull<Shape extends z.ZodRawShape> = { [Name in keyof Shape]: z.ZodOptional<z.ZodNullable<Shape[Name]>> };

/** OpenAI takes null for a parameter that is left out, and some clients send it. */
const orNull = <Shape extends Record<string, z.ZodType>>(shape: Shape): OrNull<Shape> =>
  Object.fromEntries(Object.entries(shape).map(([name, schema]) => [name, schema.nullish()])) as OrNull<Shape>;

const usage = z.object({ prompt_tokens: z.number(), completion_tokens: z.number(), total_tokens: z.number() });

const assistantMessage = z.object({
  role: z.literal('assistant'),
  content: z.string().nullable(),
  tool_calls: z.array(toolCall).optional(),
});

const CHAT_ERRORS = {
  ...PLAN_ERRORS,
  400: [REQUIRED],
  403: ['Model <id> not available on your plan. Upgrade for more models.'],
  429: [
    'AI rate limit exceeded.',
    'Spend cap reached: <used> of <limit> USD used',
    'Monthly token quota reached: <used> of <limit> tokens used',
  ],
  500: ['AI provider <name> answered <status>'],
  502: [
    'AI provider <name> did not answer in time',
    'AI provider <name> could not be reached',
    'AI provider <name> sent an answer that cannot be used',
  ],
} as const;

export const aiChat = endpoint({
  service,
  method: 'POST',
  path: '/api/ai/chat',
  auth: 'internal',
  tag,
  summary: `Chat completion; with \`stream\` server-sent events in OpenAI's chunk shape. ${CONTEXT}`,
  body: z.object({
    messages: z.array(z.object({ role: z.enum(['user', 'assistant', 'system']), content }), REQUIRED).min(1, REQUIRED),
    taskType: z.string().max(100).optional(),
    algorithmMode: z.boolean().default(false),
    ...parameters,
  }),
  reply: z.object({
    id: z.string(),
    model: z.string().describe('The model that served: the fallback, when the one asked for failed'),
    provider: z.string(),
    message: assistantMessage,
    usage,
    timestamp,
  }),
  errors: CHAT_ERRORS,
});

const openaiMessage = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'developer', 'user']), content }),
  z.object({
    role: z.literal('assistant'),
    content: z.union([z.string(), z.array(textPart)]).nullish(),
    // Providers refuse null and an empty list here.
    tool_calls: z
      .array(toolCall)
      .nullish()
      .transform((calls) => (calls?.length ? calls : undefined)),
  }),
  z.object({ role: z.literal('tool'), content: z.union([z.string(), z.array(textPart)]), tool_call_id: z.string() }),
]);

export const chatCompletions = endpoint({
  service,
  method: 'POST',
  path: '/v1/chat/completions',
  auth: 'internalOrKey',
  tag,
  summary: 'OpenAI-compatible chat completion, for the internal key or an API key of a user',
  body: z.object({
    messages: z.array(openaiMessage, REQUIRED).min(1, REQUIRED),
    ...orNull({
      ...parameters,
      max_completion_tokens: z.int().min(1).max(10_000_000),
      stream_options: z.object({ include_usage: z.boolean().nullish() }),
      // Ignored, it would look as if the others had been lost.
      n: z.literal(1, 'n must be 1: one choice is given'),
    }),
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
        message: assistantMessage.extend({ refusal: z.null() }),
        logprobs: z.null(),
        finish_reason: z.string(),
      }),
    ),
    usage,
  }),
  errors: CHAT_ERRORS,
});

export const listOpenaiModels = endpoint({
  service,
  method: 'GET',
  path: '/v1/models',
  auth: 'internalOrKey',
  tag,
  summary: 'OpenAI-compatible list of the models that the caller may use',
  reply: z.object({
    object: z.literal('list'),
    data: z.array(z.object({ id: z.string(), object: z.literal('model'), created: z.number(), owned_by: z.string() })),
  }),
  errors: { 429: ['AI rate limit exceeded.'] },
});
