import { z } from 'zod';
import {
  AGENT_LIMIT_TEXT,
  PLAN_MISMATCH_TEXT,
  TOO_MANY_SKILLS_TEXT,
  PROVISIONING_DISABLED_TEXT,
  provisionBody,
  PROVISION_BAD_INPUT,
  SUBSCRIPTION_REQUIRED_TEXT,
} from '../fields.ts';
import { endpoint } from '../../endpoint.ts';
import * as backend from './backend.ts';

export const create = endpoint({
  service: 'web',
  tag: 'Provisioning',
  method: 'POST',
  path: '/api/provision',
  auth: 'session',
  summary: 'Make and run an agent with its channels, on the backend or on the hosting platform',
  unauthorized: 'Authentication required',
  errorFields: { success: false },
  body: provisionBody,
  reply: z.union([
    z.object({
      success: z.literal(true),
      userId: z.string(),
      subdomain: z.string(),
      url: z.string(),
      streamKey: z.string(),
      liveStreamId: z.string(),
      agentId: z.string(),
      status: z.string(),
    }),
    z.object({
      success: z.literal(true),
      userId: z.string(),
      agentId: z.string(),
      serviceId: z.string(),
      url: z.string(),
      status: z.literal('deploying'),
    }),
  ]),
  errors: {
    400: [...PROVISION_BAD_INPUT, TOO_MANY_SKILLS_TEXT],
    401: ['Authentication required'],
    402: ['A paid plan is required. Choose a plan at /pricing', AGENT_LIMIT_TEXT],
    403: [SUBSCRIPTION_REQUIRED_TEXT, PLAN_MISMATCH_TEXT],
    502: ['Provisioning failed: no backend could be reached'],
    503: [PROVISIONING_DISABLED_TEXT],
  },
  passesOn: () => [backend.create],
});
