import { z } from 'zod';
import { nullableTimestamp, timestamp } from '../../common.ts';

const spent = z.object({ turns: z.number(), tokens: z.number(), costMicros: z.number(), ms: z.number() });

/** Work that an agent gave a member of its team and does not wait for. */
const task = z.looseObject({
  id: z.string().describe('The call of the tool that began it'),
  sessionId: z.string().describe('The conversation that is told its end'),
  runSeq: z.number().describe('The message that began the run which gave it'),
  member: z.string(),
  memberId: z.string(),
  memberSession: z.string().nullable().describe('The member’s own conversation, once it has the task'),
  task: z.string().describe('In a list, its first 500 letters'),
  status: z.enum(['running', 'done', 'failed', 'stopped']),
  result: z.string().describe('In a list, its first 500 letters'),
  spent: spent.nullable(),
  createdAt: timestamp,
  endedAt: nullableTimestamp,
});
export type BackgroundTask = z.output<typeof task>;

export const taskList = z.object({ tasks: z.array(task), hasMore: z.boolean() });
export const oneTask = z.object({ task });
export const taskStopped = z.object({
  success: z.literal(true),
  stopped: z.boolean().describe('False: it had ended before'),
});
