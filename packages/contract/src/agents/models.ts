import { z } from 'zod';
import * as backend from './runtime/backend.ts';
import { abilities } from './runtime/backend.ts';
import { endpoint } from '../endpoint.ts';
import * as ai from './ai/backend.ts';

export const list = endpoint({
  service: 'web',
  method: 'GET',
  path: '/api/models',
  auth: 'session',
  tag: 'Agents',
  summary: 'The models that the caller can give an agent: those of the plan that a provider is set up for',
  reply: z.object({
    models: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        description: z.string(),
        inputCost: z.number().describe('USD per million tokens'),
        outputCost: z.number().describe('USD per million tokens'),
        contextWindow: z.number().describe('Tokens; 0: the provider does not say'),
        sees: z.boolean().describe('It can be shown pictures'),
      }),
    ),
    default: z.string().describe('The one that suits most agents'),
    sandboxOnly: z
      .boolean()
      .describe('No provider is set up: all models of the plan are listed, and the sandbox answers for each'),
  }),
  errors: { 502: ['Agent backend unavailable'] },
  passesOn: () => [ai.listModels],
});

export const getAbilities = endpoint({
  service: 'web',
  method: 'GET',
  path: '/api/abilities',
  auth: 'session',
  tag: 'Agents',
  summary: 'What agents can do on this installation',
  reply: abilities,
  passesOn: () => [backend.getAbilities],
  errors: { 401: ['Unauthorized'], 502: ['Agent backend unavailable'] },
});
