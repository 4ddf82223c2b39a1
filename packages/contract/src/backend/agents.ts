import { z } from 'zod';
import {
  agentName,
  agentParams,
  agentPurpose,
  agentStatus,
  AGENT_NOT_FOUND,
  settingsObject,
  UNKNOWN_TOOL_TEXT,
  verification,
  VERIFY_ERRORS,
  verifyBody,
} from '../agent-fields.ts';
import { nullableTimestamp, success, timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';

const base = { service: 'backend', tag: 'Agents', auth: 'internal' } as const;
const denied = { 401: ['Unauthorized'], 403: ['Forbidden'] } as const;
const place = { subdomain: z.string(), url: z.string() };

/** `x-user-id` names the owner on all of these; without it they are about every agent, or the installation's own. */
export const listBackendAgents = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents',
  summary: 'Agents of the user in x-user-id, or all',
  reply: z.array(z.object({ id: z.string(), status: agentStatus, created: timestamp, ...place })),
  errors: denied,
});

export const createBackendAgent = endpoint({
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
  errors: { 400: ['Name required', 'Invalid plan'], ...denied, 500: ['Failed to create agent'] },
});

export const getBackendAgent = endpoint({
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

export const updateBackendAgent = endpoint({
  ...base,
  method: 'PUT',
  path: '/api/agents/:id',
  summary: 'Change plan, provider, name, configuration or purpose; a running agent takes it over at once',
  params: agentParams,
  body: z.object({
    plan: z.string().max(50).optional(),
    aiProvider: z.string().max(50).optional(),
    name: agentName('Name required').optional(),
    config: settingsObject.optional(),
    purpose: agentPurpose.optional(),
  }),
  reply: z.object({
    id: z.string(),
    plan: z.string(),
    aiProvider: z.string(),
    subdomain: z.string(),
    status: agentStatus,
    message: z.string(),
  }),
  errors: { 400: [UNKNOWN_TOOL_TEXT], ...denied, 404: [AGENT_NOT_FOUND] },
});

export const deleteBackendAgent = endpoint({
  ...base,
  method: 'DELETE',
  path: '/api/agents/:id',
  summary: 'Remove an agent for good; one that is not there is removed already',
  params: agentParams,
  reply: z.object({ id: z.string(), deleted: z.literal(true) }),
  errors: denied,
});

const verificationPath = { ...base, params: agentParams, errors: { ...denied, ...VERIFY_ERRORS } } as const;

export const getBackendVerification = endpoint({
  ...verificationPath,
  method: 'GET',
  path: '/api/agents/:id/verification',
  summary: 'Whether and how the agent is verified',
  reply: verification,
});

export const verifyBackendAgent = endpoint({
  ...verificationPath,
  method: 'POST',
  path: '/api/agents/:id/verify',
  summary: 'Record a verification',
  body: verifyBody,
  reply: verification.extend({ success: z.literal(true), agentId: z.string() }),
});

export const removeBackendVerification = endpoint({
  ...verificationPath,
  method: 'DELETE',
  path: '/api/agents/:id/verify',
  summary: 'Remove a verification',
  reply: verification.extend({ success: z.literal(true), agentId: z.string() }),
});

const action = {
  ...base,
  tag: 'Lifecycle',
  method: 'POST',
  params: agentParams,
  errors: { ...denied, 402: ['A paid plan is required. Choose a plan at /pricing'], 404: [AGENT_NOT_FOUND] },
} as const;

export const startAgent = endpoint({
  ...action,
  path: '/api/agents/:id/start',
  summary: 'Start an agent',
  reply: success.extend({ status: z.literal('active') }),
});

export const stopAgent = endpoint({
  ...action,
  path: '/api/agents/:id/stop',
  summary: 'Stop an agent; its data and configuration stay',
  reply: success.extend({ status: z.literal('stopped') }),
});

export const restartAgent = endpoint({
  ...action,
  path: '/api/agents/:id/restart',
  summary: 'Stop and start an agent',
  reply: success.extend({ status: z.literal('active'), runtimeVersion: z.string() }),
});

const BAD_IMAGE = 'Invalid docker image value';
/** `[registry[:port]/]name[/name…][:tag][@digest]` */
const IMAGE =
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?(?::\d{1,5})?\/)?[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/;

export const updateAgentImage = endpoint({
  ...action,
  path: '/api/agents/:id/update',
  summary: 'Back up, change to another image, and return to the old one if the new one does not become healthy',
  body: z.object({
    image: z.string({ error: BAD_IMAGE }).max(255, BAD_IMAGE).regex(IMAGE, BAD_IMAGE).optional(),
  }),
  reply: success.extend({
    status: z.literal('active'),
    image: z.string(),
    previousImage: z.string(),
    backupPath: z.string(),
    runtimeVersion: z.string(),
  }),
  errors: {
    ...action.errors,
    400: [BAD_IMAGE],
    500: [
      'Update failed, the previous image is running again: <reason>',
      'Update failed: <reason>. The previous image could not be started: <reason>',
    ],
  },
});

export const repairAgent = endpoint({
  ...action,
  path: '/api/agents/:id/repair',
  summary: 'Make the agent anew from the same image; its data stays',
  reply: success.extend({ message: z.string() }),
});

export const rotateBackendToken = endpoint({
  ...action,
  path: '/api/agents/:id/token/rotate',
  summary: 'A new gateway token; the old one, and what it opened, ends at once',
  reply: success.extend({ token: z.string() }),
});

export const resetAgentMemory = endpoint({
  ...action,
  path: '/api/agents/:id/reset-memory',
  summary: 'Forget memory and conversations; workspace and configuration stay',
  reply: success.extend({ message: z.string() }),
});
