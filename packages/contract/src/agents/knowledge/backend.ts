import { z } from 'zod';
import { endpoint } from '../../endpoint.ts';
import { AGENT_NOT_FOUND } from '../fields.ts';
import { hit, PASSAGE_NOT_FOUND, passage, question } from './fields.ts';

const base = {
  service: 'backend',
  tag: 'Runtime',
  auth: 'internalOrKey',
  method: 'POST',
  reply: z.object({ passages: z.array(passage.omit({ url: true, collectionId: true }).extend({ link: z.string() })) }),
  errors: { 401: ['Unauthorized'], 404: [AGENT_NOT_FOUND] },
} as const;

/** `x-agent-id` names the agent; an agent's own key means that agent. */
export const search = endpoint({
  ...base,
  path: '/v1/knowledge/search',
  summary: 'Passages of the collections that an agent was given, for agents that run as programs of their own',
  body: z.object({ query: question, limit: z.int().min(1).max(20).default(8) }),
});

export const read = endpoint({
  ...base,
  path: '/v1/knowledge/read',
  summary: 'A passage with those around it',
  body: z.object({
    document: z.string().max(100),
    index: z.int().min(0).max(1_000_000),
    around: z.int().min(0).max(10).default(2),
  }),
  errors: { ...base.errors, 404: [AGENT_NOT_FOUND, PASSAGE_NOT_FOUND] },
});

export const find = endpoint({
  ...base,
  auth: 'internal',
  path: '/v1/knowledge/find',
  summary: 'Passages of somebody’s collections by words and meaning, for web',
  body: z.object({
    collections: z.array(z.string().max(100)).max(100),
    query: question,
    limit: z.int().min(1).max(50),
  }),
  reply: z.object({ passages: z.array(hit) }),
  errors: { 400: ['User required'], 401: ['Unauthorized'] },
});
