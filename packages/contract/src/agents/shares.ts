import { z } from 'zod';
import { success, timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { base, inSession, ofAgent } from './conversations/fields.ts';
import * as gateway from './conversations/gateway.ts';
import { AGENT_NOT_FOUND } from './fields.ts';

/** Conversations that are shown to whoever has the link. */

const shared = z.object({
  id: z.string(),
  sessionId: z.string(),
  title: z.string(),
  createdAt: timestamp,
});
export type SharedConversation = z.output<typeof shared>;

export const create = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents/:id/sessions/:sessionId/share',
  summary: 'A link that shows what was said until now to whoever has it: words only, no files, tools or results',
  params: inSession,
  reply: shared.extend({ url: z.string().describe('Told once') }),
  status: 201,
  errors: {
    ...base.errors,
    400: ['There is nothing to show yet', 'This conversation is too long to be shown (2 MB). Export it instead.'],
    409: ['An agent has 100 links at most. Remove some first.'],
  },
  passesOn: () => [gateway.get],
});

export const list = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/shares',
  summary: 'The links that show conversations of an agent',
  params: ofAgent,
  reply: z.object({ shares: z.array(shared) }),
});

export const remove = endpoint({
  ...base,
  method: 'DELETE',
  path: '/api/agents/:id/shares/:shareId',
  summary: 'Remove a link: it shows nothing any more',
  params: z.object({ id: z.string(), shareId: z.string() }),
  reply: success,
  errors: { ...base.errors, 404: [AGENT_NOT_FOUND, 'Link not found'] },
});

export const read = endpoint({
  service: 'web',
  auth: 'none',
  tag: 'Conversations',
  method: 'GET',
  path: '/api/shared/:token',
  summary: 'A conversation that somebody shows',
  params: z.object({ token: z.string() }),
  reply: z.object({
    title: z.string(),
    agent: z.string(),
    createdAt: timestamp,
    messages: z.array(z.object({ role: z.enum(['user', 'assistant']), text: z.string(), at: timestamp })),
  }),
  errors: { 404: ['This link shows nothing: it was removed, or there never was one'] },
});
