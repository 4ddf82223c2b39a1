import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

const tag = 'Demo';
const service = 'web';
const path = '/api/demo/chat';

export const get = endpoint({
  service,
  method: 'GET',
  path,
  auth: 'none',
  tag,
  summary: 'The models of the public demo',
  reply: z.object({
    models: z.array(z.object({ id: z.string(), name: z.string(), provider: z.string() })),
    mode: z.literal('demo'),
    message: z.string(),
  }),
});

const REQUIRED = 'Message required';

export const chat = endpoint({
  service,
  method: 'POST',
  path,
  auth: 'none',
  tag,
  summary: 'One answer of the public demo, at most 1,024 tokens',
  body: z.object({
    message: z.string(REQUIRED).trim().min(1, REQUIRED),
    model: z
      .string()
      .optional()
      .describe(
        'One of the demo models; any other counts as the default one. Where no provider has it, the first demo model that one has serves',
      ),
    mode: z.string().optional(),
    conversation: z
      .array(z.unknown())
      .optional()
      .describe('Earlier messages {role, content}: only those of role `user` count, cut to 4,000 characters'),
  }),
  reply: z.object({
    id: z.string(),
    model: z.string(),
    message: z.string(),
    usage: z.object({ prompt_tokens: z.number(), completion_tokens: z.number(), total_tokens: z.number() }),
    done: z.literal(true),
  }),
  failure: 'Failed to get response',
  errors: {
    400: [REQUIRED],
    429: ['Too many requests'],
    500: ['Failed to get response'],
    503: ['Demo unavailable — service not configured.'],
  },
});
