import { z } from 'zod';
import {
  agentName,
  agentPage,
  agentParams,
  agentPurpose,
  agentStats,
  shownMessage,
  agentStatus,
  agentTags,
  AGENT_LIMIT_TEXT,
  AGENT_NOT_FOUND,
  BAD_CONFIG_TEXTS,
  forceQuery,
  NO_MODEL_TEXTS,
  PLAN_MISMATCH_TEXT,
  settingsObject,
  SUBSCRIPTION_REQUIRED_TEXT,
  TAG_TEXTS,
  UNKNOWN_TOOL_TEXT,
  verification,
  VERIFY_ERRORS,
  verifyBody,
} from '../fields.ts';
import { success, timestamp, wholeQuery } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import * as backend from '../deployments.ts';
import * as lifecycle from '../lifecycle.ts';
import * as gateway from '../runtime/gateway.ts';
import * as runtime from '../runtime/backend.ts';
import * as agents from './backend.ts';

const base = { service: 'web', tag: 'Agents', auth: 'session' } as const;
const one = { ...base, params: agentParams, errors: { 401: ['Unauthorized'], 404: [AGENT_NOT_FOUND] } } as const;

const agent = z.object({
  id: z.string(),
  name: z.string(),
  model: z.string(),
  /** The model that really answers: another one where the plan has not this one, or no provider serves it. */
  answers: z.string(),
  status: agentStatus,
  /** Opens the agent's web chat; the ticket in it opens it once, within five minutes: ask for a new one for each connection. */
  websocketUrl: z.string(),
  createdAt: timestamp,
  updatedAt: timestamp,
  plan: z.string(),
  teamId: z.string().nullable(),
  url: z.string(),
  /** Why it failed. */
  failure: z.string().nullable(),
  /** The provider whose key its owner gave it; null: it uses the platform's. */
  ownKeyOf: z.string().nullable(),
  verified: z.boolean(),
  /** Words by which its owner finds it. */
  tags: z.array(z.string()),
  /** It keeps its conversations and files itself, as one in a container does: while it does not run nobody can read them. */
  outside: z.boolean(),
});
export type WebAgent = z.output<typeof agent>;

export const list = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents',
  auth: 'optional',
  summary: 'The own agents; none without a session',
  query: agentPage,
  reply: z.object({ agents: z.array(agent), count: z.number(), hasMore: z.boolean(), status: z.literal('ok') }),
});

export const get = endpoint({
  ...one,
  method: 'GET',
  path: '/api/agents/:id',
  summary: 'One agent',
  reply: z.object({ agent, status: z.literal('ok') }),
});

export const rename = endpoint({
  ...one,
  method: 'PATCH',
  path: '/api/agents/:id',
  summary: 'Rename an agent',
  body: z.object({ name: agentName('Name required') }),
  reply: success.extend({
    agent: z.object({ id: z.string(), name: z.string(), status: agentStatus, updatedAt: timestamp }),
  }),
  errors: {
    ...one.errors,
    400: ['Name required', 'Name too long (max 64 chars)'],
    502: ['Agent backend unavailable'],
  },
  passesOn: () => [agents.update],
});

export const tag = endpoint({
  ...one,
  method: 'PUT',
  path: '/api/agents/:id/tags',
  summary: 'Set the words by which the agent is found; with `pinned` it stands in the sidebar',
  body: z.object({ tags: agentTags }),
  reply: success.extend({ tags: z.array(z.string()) }),
  errors: { ...one.errors, 400: TAG_TEXTS, 502: ['Agent backend unavailable'] },
  passesOn: () => [agents.update],
});

export const remove = endpoint({
  ...one,
  method: 'DELETE',
  path: '/api/agents/:id',
  summary: 'Delete an agent and all its data',
  reply: success.extend({ deleted: z.string() }),
  errors: { ...one.errors, 502: ['Agent backend unavailable'] },
  passesOn: () => [agents.remove],
});

const NAME = 'Agent name is required';

const made = success.extend({
  agent: z.object({
    id: z.string(),
    name: z.string(),
    status: agentStatus,
    websocketUrl: z.string(),
    model: z.string(),
    createdAt: timestamp,
  }),
});

export const provision = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents/provision',
  summary: 'Make and run an agent',
  body: z.object({
    name: agentName(NAME, 'Agent name too long (max 64 chars)'),
    model: z.string().trim().min(1).max(200).optional(),
    config: settingsObject.default({}),
    tier: z.string().max(50).optional(),
  }),
  reply: made,
  status: 201,
  errors: {
    400: [
      NAME,
      'Invalid tier. Must be: starter, pro, or enterprise',
      ...NO_MODEL_TEXTS,
      ...BAD_CONFIG_TEXTS,
      UNKNOWN_TOOL_TEXT,
    ],
    401: ['Unauthorized'],
    402: ['A paid plan is required. Choose a plan at /pricing'],
    403: [SUBSCRIPTION_REQUIRED_TEXT, PLAN_MISMATCH_TEXT],
    429: ['Agent limit reached for <tier> tier', AGENT_LIMIT_TEXT],
    502: ['Agent backend unavailable'],
    503: ['Provisioning is temporarily disabled. Contact support.'],
  },
  passesOn: () => [backend.create],
});

export const duplicate = endpoint({
  ...one,
  method: 'POST',
  path: '/api/agents/:id/duplicate',
  summary: 'Make and run another agent of the same kind, without memory, conversations, files, channels and team',
  body: z.object({
    name: agentName(NAME, 'Agent name too long (max 64 chars)')
      .optional()
      .describe('That of the other with “copy” after it, unless said'),
  }),
  reply: made,
  status: 201,
  errors: {
    ...one.errors,
    400: [NAME, ...NO_MODEL_TEXTS],
    402: ['A paid plan is required. Choose a plan at /pricing'],
    403: [SUBSCRIPTION_REQUIRED_TEXT, PLAN_MISMATCH_TEXT],
    429: ['Agent limit reached for <tier> tier', AGENT_LIMIT_TEXT],
    502: ['Agent backend unavailable'],
    503: ['Provisioning is temporarily disabled. Contact support.'],
  },
  passesOn: () => [backend.create],
});

export const listProvisioned = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/provision',
  summary: 'The own agents',
  query: agentPage,
  reply: success.extend({ agents: z.array(agent), count: z.number(), hasMore: z.boolean() }),
  errors: { 401: ['Unauthorized'] },
});

const config = settingsObject;

export const getConfig = endpoint({
  ...one,
  method: 'GET',
  path: '/api/agents/:id/config',
  summary: 'What the agent runs with',
  reply: z.object({ config, status: z.literal('ok') }),
});

export const putConfig = endpoint({
  ...one,
  method: 'PUT',
  path: '/api/agents/:id/config',
  summary: 'Change what the agent runs with; it takes effect at once',
  query: forceQuery,
  body: settingsObject,
  reply: z.object({ config, status: z.literal('updated') }),
  errors: { ...one.errors, 400: [...BAD_CONFIG_TEXTS, ...NO_MODEL_TEXTS], 502: ['Agent backend unavailable'] },
  passesOn: () => [agents.update],
});

const purpose = z.object({
  instruction: z.string(),
  tools: z.array(z.string()),
  welcome: z.string().nullable().describe('What its document says where a conversation begins'),
  commands: z
    .array(z.object({ name: z.string(), description: z.string() }))
    .describe('Messages `/name` that stand for a text of its document'),
});

export const getPurpose = endpoint({
  ...one,
  method: 'GET',
  path: '/api/agents/:id/purpose',
  summary: 'What the agent is for, and the tools that it may use',
  reply: purpose,
});

export const putPurpose = endpoint({
  ...one,
  method: 'PUT',
  path: '/api/agents/:id/purpose',
  summary: 'Change what the agent is for or which tools it may use, from its next step on; what is left out stays',
  query: forceQuery,
  body: agentPurpose,
  reply: purpose,
  errors: { ...one.errors, 400: [UNKNOWN_TOOL_TEXT], 502: ['Agent backend unavailable'] },
  passesOn: () => [agents.update],
});

const level = z.enum(['debug', 'info', 'warn', 'error']);

export const getLogs = endpoint({
  ...one,
  method: 'GET',
  path: '/api/agents/:id/logs',
  summary: 'The agent’s log, newest first',
  query: z.object({ limit: wholeQuery(50, 1, 100), level: level.optional() }),
  reply: z.object({
    logs: z.array(
      z.object({
        id: z.string(),
        timestamp,
        level,
        message: z.string(),
        source: z.string(),
        agentId: z.string(),
      }),
    ),
    total: z.number(),
    limit: z.number(),
    status: z.literal('ok'),
  }),
  errors: { ...one.errors, 502: ['Agent backend unavailable', 'Agent is not running'] },
  passesOn: () => [gateway.getLogs],
});

export const MOST_LOG_STREAMS = 20;
export const TOO_MANY_LOG_STREAMS = `A user has ${MOST_LOG_STREAMS} streams of logs at most`;

export const streamLogs = endpoint({
  ...one,
  method: 'GET',
  path: '/api/agents/:id/logs/stream',
  summary: 'The agent’s log as it is written; Last-Event-ID goes on where a reader stopped',
  query: z.object({ level: level.optional() }),
  produces: 'text/event-stream',
  errors: { ...one.errors, 429: [TOO_MANY_LOG_STREAMS] },
  passesOn: () => [gateway.getLogs],
});

export const getMessages = endpoint({
  ...one,
  method: 'GET',
  path: '/api/agents/:id/messages',
  summary: 'The agent’s conversations, newest first',
  query: z.object({ limit: wholeQuery(50, 1, 100), offset: wholeQuery(0, 0, 1_000_000) }),
  reply: z.object({
    messages: z.array(shownMessage),
    total: z.number(),
    limit: z.number(),
    offset: z.number(),
    hasMore: z.boolean().optional(),
    status: z.literal('ok'),
  }),
  passesOn: () => [gateway.getMessages],
});

export const getStats = endpoint({
  ...one,
  method: 'GET',
  path: '/api/agents/:id/stats',
  summary: 'Live figures; all null, with status `mock`, while the backend cannot be reached',
  reply: z.object({ stats: agentStats, status: z.enum(['ok', 'mock']) }),
  passesOn: () => [runtime.getStats],
});

export const getToken = endpoint({
  ...one,
  method: 'GET',
  path: '/api/agents/:id/token',
  summary: 'The token that opens the agent’s gateway',
  reply: z.object({ token: z.string() }),
});

export const rotateToken = endpoint({
  ...one,
  method: 'POST',
  path: '/api/agents/:id/token/rotate',
  summary: 'A new gateway token; the old one, and what it opened, ends at once',
  reply: z.object({ success: z.literal(true), token: z.string() }),
  passesOn: () => [lifecycle.rotateToken],
});

export const getVerification = endpoint({
  ...one,
  method: 'GET',
  path: '/api/agents/:id/verify',
  summary: 'Whether and how the agent is verified',
  reply: verification,
  passesOn: () => [agents.getVerification],
});

export const getVerificationStatus = endpoint({
  ...one,
  method: 'GET',
  path: '/api/agents/:id/verification',
  summary: 'The same under its other name',
  reply: verification,
  passesOn: () => [agents.getVerification],
});

export const verify = endpoint({
  ...one,
  method: 'POST',
  path: '/api/agents/:id/verify',
  summary: 'Record a verification',
  body: verifyBody,
  reply: verification.extend({ success: z.literal(true), agentId: z.string() }),
  errors: { ...one.errors, ...VERIFY_ERRORS },
  passesOn: () => [agents.verify],
});

export const removeVerification = endpoint({
  ...one,
  method: 'DELETE',
  path: '/api/agents/:id/verify',
  summary: 'Remove a verification',
  reply: verification.extend({ success: z.literal(true), agentId: z.string() }),
  passesOn: () => [agents.removeVerification],
});

const NO_CLONES = 'Agent cloning is not available yet';

export const clone = endpoint({
  ...base,
  auth: 'none',
  method: 'POST',
  path: '/api/agents/clone',
  summary: 'Not available; nothing is charged',
  rawBody: true,
  errors: { 501: [NO_CLONES] },
});

export const getCloneService = endpoint({
  ...base,
  auth: 'none',
  method: 'GET',
  path: '/api/agents/clone',
  summary: 'State of the clone service',
  reply: z.object({
    status: z.literal('ok'),
    service: z.string(),
    available: z.boolean(),
    protocol: z.object({ name: z.string(), version: z.string(), methods: z.array(z.string()), payment: z.boolean() }),
    timestamp,
  }),
});
