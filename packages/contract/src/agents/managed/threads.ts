import { z } from 'zod';
import { endpoint } from '../../endpoint.ts';
import { AGENT_NOT_FOUND } from '../fields.ts';
import { managed, NOT_YOURS, PAGE_TEXTS, pageOf, pageQuery, REACH_ERRORS, timesTold } from './fields.ts';

/** A session has one thread, its own: agents that its agent asks for help keep conversations of theirs. */

const thread = z.looseObject({
  type: z.literal('session_thread'),
  id: z.string(),
  session_id: z.string(),
  parent_thread_id: z.null(),
  agent: z.looseObject({ type: z.literal('agent'), id: z.string(), version: z.number() }),
  status: z.enum(['running', 'idle', 'rescheduling', 'terminated']),
  ...timesTold,
});
const one = z.object({ id: z.string().min(1).max(200), threadId: z.string().min(1).max(200) });
const ofSession = [AGENT_NOT_FOUND, 'Session not found'];
const notThere = [...ofSession, 'Thread not found'];

export const listThreads = endpoint({
  ...managed.listWithin,
  path: '/v1/sessions/:id/threads',
  summary: 'The thread of a session: there is one',
  reply: pageOf(thread),
  errors: { 400: PAGE_TEXTS, 404: ofSession },
});

export const getThread = endpoint({
  ...managed.read,
  path: '/v1/sessions/:id/threads/:threadId',
  summary: 'The thread of a session',
  params: one,
  reply: thread,
  errors: { 400: [NOT_YOURS], 404: notThere },
});

export const archiveThread = endpoint({
  ...managed.change,
  path: '/v1/sessions/:id/threads/:threadId/archive',
  summary: 'Refused: a session is archived as a whole',
  params: one,
  errors: { 400: [NOT_YOURS, 'A session has one thread: archive the session'], 404: notThere },
});

export const listThreadEvents = endpoint({
  ...managed.listWithin,
  path: '/v1/sessions/:id/threads/:threadId/events',
  summary: 'What happened in the thread of a session, the oldest first',
  params: one,
  query: pageQuery,
  reply: pageOf(z.looseObject({ id: z.string(), type: z.string() })),
  errors: { ...REACH_ERRORS, 400: PAGE_TEXTS, 404: notThere },
});

export const streamThreadEvents = endpoint({
  ...managed.read,
  path: '/v1/sessions/:id/threads/:threadId/stream',
  summary: 'What happens in the thread of a session from now on, as server-sent events',
  params: one,
  produces: 'text/event-stream',
  errors: {
    ...REACH_ERRORS,
    400: [NOT_YOURS],
    404: notThere,
    429: ['At most <number> streams at a time'],
  },
});
