import { z } from 'zod';
import { idParams, nullableTimestamp, success, wholeQuery } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import { needed } from '../../fields.ts';
import * as backend from '../agents/backend.ts';
import { AGENT_NOT_FOUND, forceQuery } from '../fields.ts';
import { fact, kept } from './fields.ts';
import * as gateway from './gateway.ts';

const base = { service: 'web', tag: 'Memory', path: '/api/memory', auth: 'session' } as const;
const agentId = needed('agentId required');
const TOO_LARGE = 'Memory value too large (max 100KB)';
const TOO_MANY = 'Too many memory keys (max 50)';

export const get = endpoint({
  ...base,
  method: 'GET',
  summary: 'What the agent remembers',
  query: z.object({ agentId, offset: wholeQuery(0, 0, 1_000_000) }),
  reply: z.object({
    memory: z.record(z.string(), z.unknown()),
    unnamed: z.array(z.string()).describe('Keys that are ids: the agent kept these without a key'),
    agentId: z.string(),
    count: z.number(),
    lastUpdated: nullableTimestamp,
    /** A page ends at 1,000 entries or about 2 MB; the next has `offset`. */
    hasMore: z.boolean(),
  }),
  errors: {
    400: ['agentId required'],
    401: ['Unauthorized'],
    404: [AGENT_NOT_FOUND],
    502: ['Agent backend unavailable', 'Agent is not running'],
  },
  passesOn: () => [gateway.get],
});

export const put = endpoint({
  ...base,
  method: 'POST',
  summary: 'Write into what the agent remembers: one key, or several at once',
  body: z.object({ agentId, key: z.string().trim().min(1).max(500).optional(), memory: z.unknown() }),
  reply: success.extend({
    agentId: z.string(),
    key: z.string().optional(),
    keysUpdated: z.array(z.string()).optional(),
    saved: z.literal(true),
  }),
  errors: {
    400: [
      'agentId required',
      'memory required',
      'memory must be an object of keys and values, unless key is given',
      TOO_LARGE,
      TOO_MANY,
    ],
    401: ['Unauthorized'],
    404: [AGENT_NOT_FOUND],
    502: ['Agent backend unavailable', 'Agent is not running'],
  },
  passesOn: () => [gateway.put],
});

export const forget = endpoint({
  ...base,
  tag: 'Conversations',
  method: 'DELETE',
  summary: 'Delete one entry of what the agent remembers',
  body: z.object({ agentId: z.string(), key: z.string() }),
  reply: success,
  errors: {
    401: ['Unauthorized'],
    404: [AGENT_NOT_FOUND, 'Memory not found'],
    502: ['Agent backend unavailable', 'Agent is not running'],
  },
  passesOn: () => [gateway.forget],
});

const care = z.object({
  embeddings: z.string().nullable().describe('The model that makes numbers of memories; null: they are found by words'),
  memories: z.number(),
  embedded: z.number().describe('Memories that are found by meaning'),
  meaningNote: z.string().nullable().describe('What the owner should know about the search by meaning'),
  facts: z.boolean().describe('Whether facts are taken out of conversations that rest'),
  factsNote: z.string().nullable().describe('What the owner should know about them'),
  found: z.array(fact).describe('The newest facts, 100 at most'),
});

const ofAgent = {
  ...base,
  path: '/api/agents/:id/memory',
  params: idParams,
  reply: care,
  errors: { 401: ['Unauthorized'], 404: [AGENT_NOT_FOUND] },
} as const;

export const getCare = endpoint({
  ...ofAgent,
  method: 'GET',
  summary: 'How an agent’s memory is searched and filled, and the facts that were found',
  passesOn: () => [gateway.care],
});

export const setCare = endpoint({
  ...ofAgent,
  method: 'PUT',
  summary: 'Search an agent’s memory by meaning, or take facts out of its conversations',
  query: forceQuery,
  body: z.object({
    embeddings: z
      .string()
      .trim()
      .min(1, 'embeddings must name a model')
      .max(200, 'embeddings too long (max 200)')
      .nullable()
      .optional()
      .describe('An embeddings model, which is sent the memories and charged as any other call; null: none'),
    facts: z
      .boolean()
      .optional()
      .describe('Take facts out of conversations that rest, with the agent’s model and on the owner’s account'),
  }),
  passesOn: () => [backend.update, gateway.care],
  errors: { ...ofAgent.errors, 502: ['Agent backend unavailable'] },
});

export const decideFact = endpoint({
  ...ofAgent,
  method: 'POST',
  path: '/api/agents/:id/memory/facts/:factId',
  summary: 'Decide about a fact that contradicts older memories',
  params: z.object({ id: z.string(), factId: z.string() }),
  body: z.object({ keep: kept }),
  errors: { ...ofAgent.errors, 404: [AGENT_NOT_FOUND, 'Fact not found'] },
  passesOn: () => [gateway.decideFact, gateway.care],
});

export const MEMORY_LIMITS = { bytes: 102_400, keys: 50, tooLarge: TOO_LARGE, tooMany: TOO_MANY } as const;
