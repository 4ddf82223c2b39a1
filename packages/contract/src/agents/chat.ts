import { z } from 'zod';
import { MESSAGE_TOO_LARGE, shownMessage } from './fields.ts';
import { timestamp, wholeQuery } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { needed, tooLong } from '../fields.ts';
import * as gateway from './runtime/gateway.ts';

const LONG_MESSAGE = tooLong('Message', 100_000);

const base = { service: 'web', tag: 'Chat', path: '/api/chat', auth: 'session' } as const;
const NONE = 'No agent deployed';

export const send = endpoint({
  ...base,
  method: 'POST',
  summary: 'Say something to an agent and hear its answer; `Accept: text/event-stream` hears it word by word',
  body: z.object({
    message: needed('Message required').max(100_000, LONG_MESSAGE),
    /** The main agent unless said. */
    agentId: z.string().max(200).optional(),
    /** Conversations are kept apart by it. */
    topic: z.string().trim().max(200).optional(),
  }),
  reply: z.object({
    id: z.string(),
    message: z.string(),
    topic: z.string().nullable(),
    status: z.literal('sent'),
    timestamp,
    reply: z.string(),
  }),
  errors: {
    400: ['Message required', LONG_MESSAGE],
    401: ['Unauthorized'],
    404: [NONE],
    413: [MESSAGE_TOO_LARGE],
    502: ['Agent backend unavailable'],
  },
  passesOn: () => [gateway.completeChat],
});

export const get = endpoint({
  ...base,
  method: 'GET',
  summary: 'What was said, newest first',
  query: z.object({ agentId: z.string().max(200).optional(), limit: wholeQuery(50, 1, 100) }),
  reply: z.object({
    messages: z.array(shownMessage),
    count: z.number(),
  }),
  errors: { 401: ['Unauthorized'], 404: [NONE], 502: ['Agent backend unavailable', 'Agent is not running'] },
  passesOn: () => [gateway.getMessages],
});
