import { z } from 'zod';
import { success, timestamp } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import { AGENT_NOT_FOUND } from '../fields.ts';
import { gateway, PROXY } from '../gateway.ts';
import { fact, kept, KEPT_BY_PLATFORM } from './fields.ts';

const memory = z.looseObject({ key: z.string().nullable(), content: z.string(), updatedAt: timestamp });

export const get = endpoint({
  ...gateway,
  method: 'GET',
  path: `${PROXY}/memory`,
  summary: 'What the agent remembers, newest first',
  query: z.object({ limit: z.number().optional(), offset: z.number().optional() }),
  reply: z.object({ memories: z.array(memory), count: z.number(), hasMore: z.boolean().optional() }),
});

export const put = endpoint({
  ...gateway,
  method: 'PUT',
  path: `${PROXY}/memory`,
  summary: 'Write one entry of the agent’s memory',
  body: z.object({ key: z.string(), content: z.string() }),
  reply: z.object({ memory }),
});

export const forget = endpoint({
  ...gateway,
  method: 'DELETE',
  path: `${PROXY}/memory/:id`,
  summary: 'Delete one entry of the memory',
  params: z.object({ agentId: z.string(), id: z.string() }),
  reply: success,
  errors: {
    401: ['Unauthorized'],
    403: ['Only the owner may do this'],
    404: [AGENT_NOT_FOUND, 'Memory not found'],
    502: ['Agent is not running'],
  },
});

/** Of agents that run as programs of their own: those in the platform have rows there. */
export const care = endpoint({
  ...gateway,
  method: 'GET',
  path: `${PROXY}/memory/care`,
  summary: 'How the agent’s memory stands, and the facts that were found',
  reply: z.object({
    memories: z.number(),
    embedded: z.number(),
    meaningNote: z.string().nullable(),
    factsNote: z.string().nullable(),
    found: z.array(fact),
  }),
  errors: { ...gateway.errors, 409: [KEPT_BY_PLATFORM] },
});

export const decideFact = endpoint({
  ...gateway,
  method: 'POST',
  path: `${PROXY}/memory/facts/:factId`,
  summary: 'Decide about a fact that contradicts older memories',
  params: z.object({ agentId: z.string(), factId: z.string() }),
  body: z.object({ keep: kept }),
  reply: success,
  errors: { ...gateway.errors, 404: [AGENT_NOT_FOUND, 'Fact not found'], 409: [KEPT_BY_PLATFORM] },
});
