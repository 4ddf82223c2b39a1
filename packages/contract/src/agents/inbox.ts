import { z } from 'zod';
import { timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { question } from './conversations/fields.ts';

const about = { id: z.string(), agentId: z.string(), agentName: z.string(), at: timestamp };

/** What waits for a person: a decision, or somebody to talk to. */
const item = z.discriminatedUnion('kind', [
  z.object({
    ...about,
    kind: z.literal('approval'),
    sessionId: z.string(),
    tool: z.string(),
    /** As the model wrote them: usually JSON. */
    args: z.string(),
    question: question.optional().describe('It waits for words, not for consent'),
  }),
  z.object({
    ...about,
    kind: z.literal('visitor'),
    sessionId: z.string(),
    state: z.enum(['waiting', 'person']),
    widgetTitle: z.string(),
    origin: z.string(),
    words: z.string().describe('What the visitor said last'),
  }),
]);
export type InboxItem = z.output<typeof item>;

export const get = endpoint({
  service: 'web',
  auth: 'session',
  tag: 'Inbox',
  method: 'GET',
  path: '/api/inbox',
  summary: 'What waits for a person in all of the own agents, the oldest first: tool calls, and visitors of widgets',
  reply: z.object({ items: z.array(item), hasMore: z.boolean() }),
  errors: { 401: ['Unauthorized'] },
});
