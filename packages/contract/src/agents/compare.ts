import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { needed, tooLong } from '../fields.ts';
import * as conversations from './conversations/web.ts';
import { NO_MODEL_TEXTS } from './fields.ts';

/** The same words to several models or agents, to see which answers best. */

export const MOST_COMPARED = 6;
const HOW_MANY = `Compare two to ${MOST_COMPARED}`;
const BAD_ID = 'id must be letters, digits and dashes';

const side = z.object({
  agentId: z.string().min(1).max(200),
  model: z.string().trim().min(1).max(200).nullable().default(null).describe('Null: the agent’s own'),
});

export const start = endpoint({
  service: 'web',
  auth: 'session',
  tag: 'Conversations',
  method: 'POST',
  path: '/api/compare',
  status: 202,
  summary:
    'Say the same to two or more agents or models, each in a new conversation; GET /api/live brings the answers as they are written',
  body: z.object({
    id: z
      .string()
      .regex(/^[\w-]{1,64}$/, BAD_ID)
      .describe('Of this comparison: the same one under the same id is begun once'),
    message: needed('Message required').max(100_000, tooLong('Message', 100_000)),
    sides: z.array(side).min(2, HOW_MANY).max(MOST_COMPARED, HOW_MANY),
  }),
  reply: z.object({
    id: z.string(),
    sides: z.array(
      z.object({
        agentId: z.string(),
        model: z.string().nullable(),
        sessionId: z.string().nullable().describe('The conversation to go on with; null: it was refused'),
        error: z.string().nullable(),
      }),
    ),
  }),
  errors: { 400: [HOW_MANY, BAD_ID, 'Message required', ...NO_MODEL_TEXTS], 404: ['Agent not found'] },
  passesOn: () => [conversations.say],
});
