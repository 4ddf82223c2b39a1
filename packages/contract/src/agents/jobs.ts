import { z } from 'zod';
import { job, signal } from '../job.ts';

/** Somebody's configuration changed: the backend has their agents take it over. */
export const applyConfigJob = job({ queue: 'apply-config', data: z.object({ owner: z.string() }) });

/** A message to an agent has to be brought to it. */
export const busDeliveryJob = job({
  queue: 'bus-delivery',
  data: z.object({ id: z.string() }),
  untilDone: true,
  retryDelaySeconds: 2,
  retryDelayMaxSeconds: 300,
  expireSeconds: 60,
});

/** `from`: the process that tells, which need not hear itself. */
const told = z.object({ from: z.string(), agentId: z.string() });

/** An agent was stopped or removed. */
export const agentChanged = signal({ channel: 'agent_changed', payload: told });

/** An agent's plan or provider is another one. */
export const agentRethinks = signal({ channel: 'agent_rethinks', payload: told });

/** An MCP server of a user's was changed or removed, or an agent switched it. */
export const mcpServerChanged = signal({
  channel: 'mcp_server_changed',
  payload: z.object({ userId: z.string(), name: z.string() }),
});

/** A conversation that somebody follows has gone on: its id, and the number of its last event. */
export const sessionWentOn = signal({ channel: 'agent_session', payload: z.string(), as: 'text' });

/** Something arrived that starts a task, and waits for its turn. */
export const tasksWaiting = signal({ channel: 'tasks_waiting', payload: z.string(), as: 'text' });

/** A backend ended in peace: what it had under way is nobody's. */
export const workLeft = signal({ channel: 'work_left', payload: z.string(), as: 'text' });

/** Conversations of a widget's visitors whose time is over have to go, or all of them when it was removed. */
export const widgetRetentionJob = job({
  queue: 'widget-retention',
  data: z.object({ widgetId: z.string(), userId: z.string() }),
  untilDone: true,
  policy: 'short',
});

/** A document of a collection has to be read, or taken out of the index. */
export const readDocumentJob = job({
  queue: 'read-document',
  data: z.object({ userId: z.string(), documentId: z.string() }),
  retryLimit: 8,
  expireSeconds: 600,
});

/** Passages of a collection have to become numbers, or must not be any more. */
export const embedPassagesJob = job({
  queue: 'embed-passages',
  data: z.object({ userId: z.string(), collectionId: z.string() }),
  retryLimit: 8,
  retryDelaySeconds: 20,
  retryDelayMaxSeconds: 3600,
  expireSeconds: 1200,
});

/** Memories of an agent have to become numbers, or must not be any more. */
export const embedMemoriesJob = job({
  queue: 'embed-memories',
  data: z.object({ userId: z.string(), agentId: z.string() }),
  retryLimit: 8,
  retryDelaySeconds: 20,
  retryDelayMaxSeconds: 3600,
  expireSeconds: 1200,
});

/** Facts have to be taken out of a conversation that rests. */
export const extractFactsJob = job({
  queue: 'extract-facts',
  data: z.object({ userId: z.string(), agentId: z.string(), sessionId: z.string() }),
  retryLimit: 8,
  retryDelaySeconds: 20,
  retryDelayMaxSeconds: 3600,
  expireSeconds: 300,
});

/** A case has to be tried. One that was begun before and did not come to its end is not begun again: it has cost something. */
export const tryCaseJob = job({
  queue: 'try-case',
  data: z.object({ userId: z.string(), resultId: z.string() }),
  retryLimit: 8,
  expireSeconds: 900,
});

/** All cases have passed: the change that they were tried with is made. */
export const takeChangeJob = job({
  queue: 'take-change',
  data: z.object({ userId: z.string(), evaluationId: z.string() }),
  retryLimit: 8,
});

/** Somebody who gave an agent a task by A2A has to be told how it stands: tried for half a day. */
export const a2aPushJob = job({
  queue: 'a2a-push',
  data: z.object({ id: z.string() }),
  retryLimit: 20,
  retryDelaySeconds: 5,
  retryDelayMaxSeconds: 3600,
  expireSeconds: 60,
});

/** There is something to tell by A2A that nobody has taken up. */
export const a2aPushWaiting = signal({ channel: 'a2a_push', payload: z.string(), as: 'text' });
