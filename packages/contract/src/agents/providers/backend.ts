import { z } from 'zod';
import { endpoint } from '../../endpoint.ts';
import { given, needsNoAddress, NO_ADDRESS, tried } from './fields.ts';

/** The parts of the backend that stand behind these: it is the one that talks to providers. */
const behind = { service: 'backend', auth: 'internal', tag: 'AI' } as const;

export const list = endpoint({
  ...behind,
  method: 'GET',
  path: '/api/ai/providers',
  summary: 'Providers that the environment names',
  reply: z.object({ providers: z.array(z.object({ name: z.string(), baseUrl: z.string().nullable() })) }),
});

export const test = endpoint({
  ...behind,
  method: 'POST',
  path: '/api/ai/providers/test',
  summary: 'List the models of a provider and ask one of them a word',
  body: given.refine(({ kind: is, baseUrl }) => needsNoAddress(is) || baseUrl !== undefined, NO_ADDRESS),
  reply: tried,
});
