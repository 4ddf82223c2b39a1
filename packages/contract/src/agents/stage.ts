import { z } from 'zod';
import { nullableTimestamp, timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';

export const MOST_ON_STAGE = 1000;
/** So many stand in front: of them the last words and the next task are told, too. */
export const IN_FRONT = 12;

const actor = z.object({
  id: z.string(),
  name: z.string(),
  teamId: z.string().nullable(),
  teamName: z.string().nullable(),
  state: z.enum(['working', 'waits', 'ready', 'off', 'trouble']),
  sessionId: z.string().nullable().describe('The conversation that it works on or waits in'),
  about: z.string().nullable().describe('The task or the conversation, in its own words'),
  /** The lead that handed it the work. */
  handedBy: z.string().nullable().describe('The agent that it works for'),
  since: nullableTimestamp,
  tags: z.array(z.string()),
  said: z
    .object({ text: z.string(), at: timestamp })
    .nullable()
    .describe('The beginning of what it said last; told of the first twelve, where its conversations are rows'),
  next: z.object({ name: z.string(), at: timestamp }).nullable().describe('Its next task; told of the first twelve'),
  spentUsd: z.number().describe('Today, UTC'),
});
export type StageActor = z.output<typeof actor>;

/** What the live stream tells of it: those that are another now as a whole, and those that are gone. */
export interface StageChange {
  agents: StageActor[];
  gone: string[];
  more: boolean;
  todayUsd: number;
}

export const get = endpoint({
  service: 'web',
  auth: 'session',
  tag: 'Agents',
  method: 'GET',
  path: '/api/stage',
  summary:
    'Every agent as it is at this moment: at work on what, waiting for a decision, ready, off or in trouble; GET /api/live with `stage=true` tells what of it changes, within a second or two',
  reply: z.object({
    agents: z.array(actor).describe('Those that wait first, then those at work, then by name; 1,000 at most'),
    more: z.boolean(),
    todayUsd: z.number(),
  }),
  errors: { 401: ['Unauthorized'] },
});
