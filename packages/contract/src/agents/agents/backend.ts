import { z } from 'zod';
import {
  agentName,
  agentPage,
  agentParams,
  agentPurpose,
  agentStatus,
  AGENT_LIMIT_TEXT,
  AGENT_NOT_FOUND,
  BAD_CONFIG_TEXTS,
  denied,
  NOT_PASSED_TEXTS,
  settingsObject,
  TAKEN_TEXTS,
  TOO_MANY_SKILLS_TEXT,
  UNKNOWN_TOOL_TEXT,
  verification,
  VERIFY_ERRORS,
  verifyBody,
  agentTags,
  TAG_TEXTS,
} from '../fields.ts';
import { nullableTimestamp, timestamp } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import { standingRule, TOO_MANY_RULES } from '../conversations/fields.ts';
import { COLLECTION_NOT_FOUND, collectionChange, TOO_MANY_COLLECTIONS_TEXT } from '../knowledge/fields.ts';
import { SKILL_CHANGED_TEXT, SKILL_NOT_FOUND, skillChange } from '../skills/fields.ts';

const base = { service: 'backend', tag: 'Agents', auth: 'internal' } as const;
const place = { subdomain: z.string(), url: z.string() };

/** `x-user-id` names the owner on all of these; without it they are about every agent, or the installation's own. */
export const list = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents',
  summary: 'Agents of the user in x-user-id, or all, newest last; a page that is full has another after it',
  query: agentPage,
  reply: z.array(z.object({ id: z.string(), status: agentStatus, created: timestamp, ...place })),
  errors: denied,
});

export const create = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents',
  summary: 'Register an agent; a plan other than free is needed to start it',
  body: z.object({
    name: agentName('Name required'),
    config: z
      .looseObject({ plan: z.string().max(50).default('free'), aiProvider: z.string().max(50).optional() })
      .prefault({}),
  }),
  reply: z.object({
    id: z.string(),
    name: z.string(),
    agentId: z.string(),
    status: agentStatus,
    ...place,
    createdAt: timestamp,
  }),
  status: 201,
  failure: 'Failed to create agent',
  errors: {
    400: ['Name required', 'Invalid plan'],
    ...denied,
    402: [AGENT_LIMIT_TEXT],
    404: ['User not found'],
    409: TAKEN_TEXTS,
    500: ['Failed to create agent'],
  },
});

export const get = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id',
  summary: 'One agent',
  params: agentParams,
  reply: z.object({
    id: z.string(),
    status: agentStatus,
    startedAt: nullableTimestamp,
    plan: z.string(),
    ...place,
    runtimeVersion: z.string(),
    verified: z.boolean(),
    verificationType: z.string().nullable(),
    attestationUid: z.string().nullable(),
    verifiedAt: nullableTimestamp,
  }),
  errors: { ...denied, 404: [AGENT_NOT_FOUND] },
});

export const update = endpoint({
  ...base,
  method: 'PUT',
  path: '/api/agents/:id',
  summary: 'Change plan, provider, name, tags, configuration or purpose; a running agent takes it over at once',
  params: agentParams,
  body: z.object({
    plan: z.string().max(50).optional(),
    aiProvider: z.string().max(50).optional(),
    name: agentName('Name required').optional(),
    config: settingsObject.optional(),
    purpose: agentPurpose.optional(),
    tags: agentTags.optional(),
    skill: skillChange.optional(),
    collection: collectionChange.optional(),
    rule: standingRule.optional().describe('What it may do from now on without asking, beside what it may already'),
    force: z.boolean().optional().describe('Also where its cases have not passed with the change'),
  }),
  reply: z.object({
    id: z.string(),
    plan: z.string(),
    aiProvider: z.string(),
    subdomain: z.string(),
    status: agentStatus,
    message: z.string(),
  }),
  errors: {
    400: [
      UNKNOWN_TOOL_TEXT,
      'Invalid plan',
      ...BAD_CONFIG_TEXTS,
      TOO_MANY_SKILLS_TEXT,
      TOO_MANY_COLLECTIONS_TEXT,
      ...TAG_TEXTS,
      TOO_MANY_RULES,
    ],
    ...denied,
    404: [AGENT_NOT_FOUND, SKILL_NOT_FOUND, COLLECTION_NOT_FOUND],
    409: [SKILL_CHANGED_TEXT, ...NOT_PASSED_TEXTS],
  },
});

export const remove = endpoint({
  ...base,
  method: 'DELETE',
  path: '/api/agents/:id',
  summary: 'Remove an agent for good; one that is not there is removed already',
  params: agentParams,
  reply: z.object({ id: z.string(), deleted: z.literal(true) }),
  errors: denied,
});

const verificationPath = { ...base, params: agentParams, errors: { ...denied, ...VERIFY_ERRORS } } as const;

export const getVerification = endpoint({
  ...verificationPath,
  method: 'GET',
  path: '/api/agents/:id/verification',
  summary: 'Whether and how the agent is verified',
  reply: verification,
});

export const verify = endpoint({
  ...verificationPath,
  method: 'POST',
  path: '/api/agents/:id/verify',
  summary: 'Record a verification',
  body: verifyBody,
  reply: verification.extend({ success: z.literal(true), agentId: z.string() }),
});

export const removeVerification = endpoint({
  ...verificationPath,
  method: 'DELETE',
  path: '/api/agents/:id/verify',
  summary: 'Remove a verification',
  reply: verification.extend({ success: z.literal(true), agentId: z.string() }),
});
