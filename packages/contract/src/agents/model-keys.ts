import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { AGENT_NOT_FOUND } from './fields.ts';
import * as providers from './providers/backend.ts';
import { tried } from './providers/fields.ts';

/** A person's own keys at providers of models: in one place, for all of his agents. What was given is never told again. */

/** Those that a key alone opens, at their own address. */
export const OWN_KEY_PROVIDERS = ['openrouter', 'anthropic', 'openai', 'gemini', 'groq'] as const;
export const MOST_KEYED_AGENTS = 1000;

const NO_AGENTS = 'Name the agents that it is for';
const TOO_MANY_AGENTS = `At most ${MOST_KEYED_AGENTS} agents at once`;
const BAD_PROVIDER = `Provider must be one of ${OWN_KEY_PROVIDERS.join(', ')}`;
const NO_KEY = 'Key required';
export const NO_OWN_KEY = 'This agent has no key of yours';

const provider = z.enum(OWN_KEY_PROVIDERS, BAD_PROVIDER);
const apiKey = z.string({ error: NO_KEY }).trim().min(1, NO_KEY).max(1000, 'Key too long (max 1000)');
const agentIds = z
  .array(z.string().max(100), NO_AGENTS)
  .min(1, NO_AGENTS)
  .max(MOST_KEYED_AGENTS, TOO_MANY_AGENTS)
  .describe('The agents that it is for; those that have it already may be among them');

const base = { service: 'web', auth: 'session', tag: 'Keys', errors: { 404: [AGENT_NOT_FOUND] } } as const;

const key = z.object({
  provider: z.string(),
  ending: z.string().describe('Its last four characters'),
  agents: z.array(z.object({ id: z.string(), name: z.string() })),
});
export type ModelKey = z.output<typeof key>;

export const list = endpoint({
  ...base,
  method: 'GET',
  path: '/api/model-keys',
  summary: 'Your own keys at providers of models, and which agents think on them',
  reply: z.object({ keys: z.array(key) }),
});

export const give = endpoint({
  ...base,
  method: 'PUT',
  path: '/api/model-keys',
  summary: 'Give agents a key of yours, all of them or none; what they had is replaced. It counts at once',
  body: z.object({ provider, apiKey, agentIds }),
  reply: z.object({ key }),
  errors: { ...base.errors, 502: ['Agent backend unavailable'] },
});

export const share = endpoint({
  ...base,
  method: 'POST',
  path: '/api/model-keys/share',
  summary: 'Give more agents the key that one of yours has, without typing it again',
  body: z.object({ agentId: z.string().max(100).describe('The one that has it'), agentIds }),
  reply: z.object({ key }),
  errors: { 404: [AGENT_NOT_FOUND, NO_OWN_KEY], 502: ['Agent backend unavailable'] },
});

export const take = endpoint({
  ...base,
  method: 'POST',
  path: '/api/model-keys/take',
  summary: 'Take your key away from agents; they think on the platform’s account again',
  body: z.object({ agentIds }),
  reply: z.object({ success: z.literal(true) }),
  errors: { ...base.errors, 502: ['Agent backend unavailable'] },
});

export const test = endpoint({
  ...base,
  method: 'POST',
  path: '/api/model-keys/test',
  summary: 'Try a key before it is given, or the one that an agent has: lists its models and asks one a word',
  body: z.union([z.object({ agentId: z.string().max(100) }), z.object({ provider, apiKey })]),
  reply: tried,
  errors: { 404: [AGENT_NOT_FOUND, NO_OWN_KEY], 502: ['Agent backend unavailable'] },
  passesOn: () => [providers.test],
});
