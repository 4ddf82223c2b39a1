import { z } from 'zod';
import { timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';

const about = { id: z.string(), agentId: z.string(), agentName: z.string(), at: timestamp };

/** What waits for a person's decision. */
const item = z.discriminatedUnion('kind', [
  z.object({
    ...about,
    kind: z.literal('approval'),
    sessionId: z.string(),
    tool: z.string(),
    /** As the model wrote them: usually JSON. */
    args: z.string(),
  }),
]);
export type InboxItem = z.output<typeof item>;

export const get = endpoint({
  service: 'web',
  auth: 'session',
  tag: 'Inbox',
  method: 'GET',
  path: '/api/inbox',
  summary: 'What waits for a decision in all of the own agents, the oldest first',
  reply: z.object({ items: z.array(item), hasMore: z.boolean() }),
  errors: { 401: ['Unauthorized'] },
});
