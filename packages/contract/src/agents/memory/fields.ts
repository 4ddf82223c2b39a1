import { z } from 'zod';
import { timestamp } from '../../common.ts';

/** An agent that runs in the platform says so of its facts. */
export const KEPT_BY_PLATFORM = 'The platform keeps the memory of this agent, and tells about it';

/** A fact that was taken out of a conversation. */
export const fact = z.object({
  id: z.string(),
  content: z.string(),
  at: timestamp.describe('When it was said'),
  conversationId: z.string(),
  message: z.number().describe('The number of the message in the conversation that says it'),
  conversation: z.string().nullable().describe('What the conversation is called; null: it was deleted'),
  contradicts: z
    .array(z.object({ id: z.string(), content: z.string(), at: timestamp }))
    .describe('Older memories that say something else; the owner decides'),
});
export type MemoryFact = z.output<typeof fact>;

export const kept = z
  .enum(['this', 'others', 'all'], { error: 'keep must be this, others or all' })
  .describe('What stays: the fact, the memories that it contradicts, or all of them');
