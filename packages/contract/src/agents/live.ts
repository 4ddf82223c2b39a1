import { z } from 'zod';
import { wholeQuery } from '../common.ts';
import { endpoint } from '../endpoint.ts';

/** What pages show, by the part that may have changed. */
export const LIVE_TOPICS = [
  'account',
  'agents',
  'devices',
  'evaluations',
  'inbox',
  'joining',
  'knowledge',
  'notices',
  'providers',
  'tasks',
  'usage',
  'widgets',
  'work',
] as const;
export type LiveTopic = (typeof LIVE_TOPICS)[number];

/** Longer than any page is open. */
const MOST_SINCE_MS = 2_000_000_000;

/** Conversations that one stream follows. */
export const MOST_WATCHES = 8;
export const MOST_STREAMS = 40;
/** Conversations that all streams of a user follow together. */
export const MOST_FOLLOWED = 64;
export const TOO_MANY_STREAMS = `A user has ${MOST_STREAMS} live streams at most`;
export const TOO_MANY_FOLLOWED = `A user follows ${MOST_FOLLOWED} conversations at most, over all live streams`;

const WATCH = 'watch must be up to 8 of agent:session:step, with commas between';
const STAGE = 'stage must be true';
/** agent:session:step, one or more. */
const PLACES = /^[\w.-]{1,200}:[\w.-]{1,200}:\d{1,10}(?:,[\w.-]{1,200}:[\w.-]{1,200}:\d{1,10}){0,7}$/;

export const follow = endpoint({
  service: 'web',
  auth: 'session',
  tag: 'Live',
  method: 'GET',
  path: '/api/live',
  summary:
    'Everything that moves, as server-sent events: `changed` names what to read again, `step` and `delta` are what happens in the conversations that are watched, `stage` is what has changed of GET /api/stage, in its shape, with `gone` for the ids of agents that are no more. `ready` comes first and names what may have changed since you read (`since`); Last-Event-ID goes on where a reader stopped',
  query: z.object({
    watch: z
      .string()
      .regex(PLACES, WATCH)
      .optional()
      .describe('Conversations to follow, each from after a step: agent:session:step'),
    stage: z
      .enum(['true'], { error: STAGE })
      .optional()
      .describe('Tell what changes on the stage, at most once a second'),
    since: wholeQuery(0, 0, MOST_SINCE_MS).describe(
      'How many milliseconds ago you read what you show, or were last told. Beyond half a minute everything counts as changed',
    ),
  }),
  produces: 'text/event-stream',
  errors: {
    400: [WATCH],
    401: ['Unauthorized'],
    429: [TOO_MANY_STREAMS, TOO_MANY_FOLLOWED],
  },
});
