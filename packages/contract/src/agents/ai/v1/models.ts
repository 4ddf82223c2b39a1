import { z } from 'zod';
import { endpoint } from '../../../endpoint.ts';
import { PLAN_ERRORS, service, tag } from './fields.ts';

/** One shape for the clients of both protocols: each finds its own fields in it. */
const model = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.number(),
  owned_by: z.string(),
  type: z.literal('model'),
  display_name: z.string(),
  created_at: z.string(),
});

const shared = { service, method: 'GET', auth: 'internalOrKey', tag, pages: true, errorShape: 'either' } as const;

export const listModels = endpoint({
  ...shared,
  path: '/v1/models',
  summary: 'The models that the caller may use, as clients of OpenAI and of Anthropic read them; all on one page',
  reply: z.object({
    object: z.literal('list'),
    data: z.array(model),
    has_more: z.literal(false),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  }),
  errors: { 402: PLAN_ERRORS[402], 429: ['AI rate limit exceeded.'] },
});

const one = {
  ...shared,
  reply: model,
  errors: { 402: PLAN_ERRORS[402], 404: ['Model <id> not found'], 429: ['AI rate limit exceeded.'] },
} as const;

export const getModel = endpoint({
  ...one,
  path: '/v1/models/:id',
  summary: 'One model that the caller may use; a slash in its id is written %2F',
  params: z.object({ id: z.string().min(1).max(300) }),
});

export const getVendorsModel = endpoint({
  ...one,
  path: '/v1/models/:id/:name',
  summary: 'The same, for clients that write the slash as it is',
  params: z.object({ id: z.string().min(1).max(300), name: z.string().min(1).max(300) }),
});
