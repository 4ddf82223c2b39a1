import { z } from 'zod';
import { idParams, success, timestamp } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import * as backend from './backend.ts';
import {
  address,
  BAD_NAME,
  given,
  key,
  models,
  needsKey,
  needsModels,
  needsNoAddress,
  NO_ADDRESS,
  NO_KEY,
  NO_MODELS,
  tried,
} from './fields.ts';

const NOT_FOUND = 'Provider not found';

/** What has to be there depends on the kind. */
const complete = given.superRefine(({ kind: is, name, baseUrl, apiKey, models: has }, context) => {
  const need = (isThere: boolean, message: string) => {
    if (!isThere) context.addIssue({ code: 'custom', message });
  };
  need(is !== 'compatible' || name !== undefined, BAD_NAME);
  need(needsNoAddress(is) || baseUrl !== undefined, NO_ADDRESS);
  need(!needsKey(is) || apiKey !== undefined, NO_KEY);
  need(!needsModels(is) || (has?.length ?? 0) > 0, NO_MODELS);
});

const provider = z.object({
  id: z.string().nullable().describe('null: it is set in the environment, and changed there'),
  kind: z.string(),
  name: z.string(),
  baseUrl: z.string().nullable(),
  hasKey: z.boolean(),
  models: z.array(z.string()).nullable().describe('What it is said to have; null: what it lists'),
  enabled: z.boolean(),
  createdAt: timestamp.nullable(),
});
export type AiProvider = z.output<typeof provider>;

const base = { service: 'web', auth: 'admin', tag: 'Administration' } as const;
const TAKEN = 'There is a provider <name> already';
const HALF = [BAD_NAME, NO_ADDRESS, NO_KEY, NO_MODELS];
const NO_BACKEND = { 502: ['Agent backend unavailable'] };

export const list = endpoint({
  ...base,
  method: 'GET',
  path: '/api/admin/providers',
  summary: 'Providers of AI models: those of the environment first, in the order in which they are asked',
  reply: z.object({ providers: z.array(provider) }),
  errors: NO_BACKEND,
});

export const add = endpoint({
  ...base,
  method: 'POST',
  path: '/api/admin/providers',
  summary: 'Add a provider; it is used from now on',
  body: complete,
  reply: z.object({ provider }),
  status: 201,
  errors: { ...NO_BACKEND, 400: HALF, 409: [TAKEN, 'At most 50 providers'] },
});

export const change = endpoint({
  ...base,
  method: 'PATCH',
  path: '/api/admin/providers/:id',
  summary: 'Change a provider’s address, key or models, or switch it on and off',
  params: idParams,
  body: z.object({
    baseUrl: address.optional(),
    apiKey: key.optional(),
    models: models.optional(),
    enabled: z.boolean().optional(),
  }),
  reply: z.object({ provider }),
  errors: { 400: [NO_MODELS], 404: [NOT_FOUND] },
});

export const remove = endpoint({
  ...base,
  method: 'DELETE',
  path: '/api/admin/providers/:id',
  summary: 'Remove a provider; it is not used any more',
  params: idParams,
  reply: success,
  errors: { 404: [NOT_FOUND] },
});

export const test = endpoint({
  ...base,
  method: 'POST',
  path: '/api/admin/providers/test',
  summary: 'Try a provider before it is added, or one that is there by its `id`: lists its models and asks one a word',
  body: z.union([z.object({ id: z.string() }), complete]),
  reply: tried,
  errors: { ...NO_BACKEND, 400: HALF, 404: [NOT_FOUND] },
  passesOn: () => [backend.test],
});
