import { z } from 'zod';
import { endpoint } from '../../endpoint.ts';
import { AGENT_NOT_FOUND } from '../fields.ts';
import { SKILL_NOT_FOUND, skillDigestField } from './fields.ts';

/** `x-agent-id` names the agent; an agent's own key means that agent. */
export const get = endpoint({
  service: 'backend',
  tag: 'Runtime',
  auth: 'internalOrKey',
  method: 'GET',
  path: '/v1/skill_files/:digest',
  summary: 'The files of a skill that an agent was given, for agents that run as programs of their own',
  params: z.object({ digest: skillDigestField }),
  reply: z.object({
    files: z.array(z.object({ path: z.string(), content: z.string().describe('base64') })),
  }),
  errors: { 401: ['Unauthorized'], 404: [AGENT_NOT_FOUND, SKILL_NOT_FOUND] },
});
