import { z } from 'zod';
import { timestamp } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import { assistantMessage, chatParameters, chatUsage, MESSAGES_REQUIRED } from './v1/chat.ts';
import { MODEL_ERRORS, REFUSED, PLAN_ERRORS, service, tag } from './v1/fields.ts';

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
  sees: z.boolean().optional().describe('It can be shown pictures'),
  open: z.boolean().optional().describe('Every plan has it: an administrator has added its provider'),
  available: z.boolean(),
});

const providerStates = z.record(z.string(), z.boolean());

export const getHealth = endpoint({
  service,
  method: 'GET',
  path: '/api/ai/health',
  auth: 'internal',
  tag,
  summary: 'Which AI providers answer',
  reply: z.object({ status: z.enum(['healthy', 'degraded']), providers: providerStates, timestamp }),
  errors: { 503: ['AI service unavailable'] },
});

export const listModels = endpoint({
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

export const listModelsOf = endpoint({
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

export const selectModel = endpoint({
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

const saidPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string().min(1) }),
  z.object({
    type: z.literal('image_url'),
    image_url: z.object({ url: z.string().min(1), detail: z.string().optional() }),
  }),
]);
const content = z.union([z.string().min(1), z.array(saidPart).min(1)]);

export const chat = endpoint({
  service,
  method: 'POST',
  path: '/api/ai/chat',
  auth: 'internal',
  tag,
  summary: `Chat completion; with \`stream\` server-sent events in OpenAI's chunk shape. ${CONTEXT}`,
  body: z.object({
    messages: z
      .array(z.object({ role: z.enum(['user', 'assistant', 'system']), content }), MESSAGES_REQUIRED)
      .min(1, MESSAGES_REQUIRED),
    taskType: z.string().max(100).optional(),
    algorithmMode: z.boolean().default(false),
    ...chatParameters,
  }),
  reply: z.object({
    id: z.string(),
    model: z.string().describe('The model that served: the fallback, when the one asked for failed'),
    provider: z.string(),
    message: assistantMessage,
    usage: chatUsage,
    timestamp,
  }),
  errors: { ...MODEL_ERRORS, 400: [REFUSED, MESSAGES_REQUIRED] },
});
