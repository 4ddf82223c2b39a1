import { z } from 'zod';
import { agentStatus } from './fields.ts';
import { nullableTimestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import * as backend from './lifecycle.ts';
import * as runtime from './runtime/backend.ts';

const NONE = 'No instance found. Please deploy first.';
const params = z.object({ userId: z.string() });
const base = {
  service: 'web',
  tag: 'Instances',
  auth: 'session',
  errors: { 401: ['Unauthorized'], 403: ['Forbidden'], 404: [NONE], 502: ['Agent backend unavailable'] },
} as const;

export const INSTANCE_ACTIONS = ['start', 'stop', 'restart', 'update', 'repair', 'reset-memory'] as const;

/** `:userId` is the own user id, which means the main agent, or the id of an own agent. */
export const act = endpoint({
  ...base,
  method: 'POST',
  path: '/api/instance/:userId/:action',
  summary: 'Start, stop, restart, update, repair or reset the memory of an agent',
  params: params.extend({ action: z.enum(INSTANCE_ACTIONS, { error: 'Invalid action' }) }),
  body: z.object({ image: z.unknown().optional() }),
  errorFields: { success: false, status: 'error' },
  reply: z.object({
    success: z.literal(true),
    status: z.string(),
    message: z.string().optional(),
    image: z.string().optional(),
    previousImage: z.string().optional(),
    backupPath: z.string().optional(),
    runtimeVersion: z.string().optional(),
  }),
  passesOn: () => [
    backend.start,
    backend.stop,
    backend.restart,
    backend.updateImage,
    backend.repair,
    backend.resetMemory,
  ],
});

const instance = {
  userId: z.string(),
  status: agentStatus,
  plan: z.string(),
  runtimeVersion: z.string(),
};

export const get = endpoint({
  ...base,
  method: 'GET',
  path: '/api/instance/:userId',
  summary: 'Where and how an agent runs',
  params,
  reply: z.object({
    ...instance,
    agentId: z.string(),
    startedAt: nullableTimestamp,
    subdomain: z.string(),
    url: z.string(),
  }),
});

export const getStats = endpoint({
  ...base,
  method: 'GET',
  path: '/api/instance/:userId/stats',
  summary: 'What an agent uses',
  params,
  reply: z.object({ ...instance, cpu: z.number().nullable(), memory: z.number().nullable() }),
  passesOn: () => [runtime.getStats],
});
