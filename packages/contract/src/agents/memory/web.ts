import { z } from 'zod';
import { nullableTimestamp, success, wholeQuery } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import { needed } from '../../fields.ts';
import { AGENT_NOT_FOUND } from '../fields.ts';
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

export const MEMORY_LIMITS = { bytes: 102_400, keys: 50, tooLarge: TOO_LARGE, tooMany: TOO_MANY } as const;
