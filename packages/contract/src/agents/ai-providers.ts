import { z } from 'zod';
import { idParams, success, timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';

/** Providers of AI models, as administrators add, try and remove them. A change counts at once in every process. */

export const PROVIDER_KINDS = ['openrouter', 'anthropic', 'openai', 'gemini', 'groq', 'ollama', 'compatible'] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

const BAD_NAME = 'Name must be 2 to 32 small letters, digits and dashes, and begin with a letter';
const NO_ADDRESS = 'Address required';
const NO_KEY = 'Key required';
const BAD_ADDRESS = 'Address must be an http or https address';
const NOT_FOUND = 'Provider not found';

const kind = z.enum(PROVIDER_KINDS, `Kind must be one of ${PROVIDER_KINDS.join(', ')}`);
const address = z
  .string()
  .trim()
  .max(500)
  .refine((text) => /^https?:\/\/[^\s/?#]+[^\s?#]*$/i.test(text), BAD_ADDRESS);
const key = z.string().trim().min(1, NO_KEY).max(500);

const given = z.object({
  kind,
  name: z
    .string()
    .trim()
    .regex(/^[a-z][a-z0-9-]{1,31}$/, BAD_NAME)
    .optional()
    .describe('Of one that is compatible: its models are called `name/model`. The others go by their kind'),
  baseUrl: address.optional().describe('Needed for ollama and compatible; the provider’s own address otherwise'),
  apiKey: key.optional().describe('Kept encrypted, never shown again'),
});

const needsNoAddress = (is: string): boolean => !['compatible', 'ollama'].includes(is);

/** What has to be there depends on the kind. */
const complete = given.superRefine(({ kind: is, name, baseUrl, apiKey }, context) => {
  const need = (isThere: boolean, message: string) => {
    if (!isThere) context.addIssue({ code: 'custom', message });
  };
  need(is !== 'compatible' || name !== undefined, BAD_NAME);
  need(needsNoAddress(is) || baseUrl !== undefined, NO_ADDRESS);
  need(!needsNoAddress(is) || apiKey !== undefined, NO_KEY);
});

const provider = z.object({
  id: z.string().nullable().describe('null: it is set in the environment, and changed there'),
  kind: z.string(),
  name: z.string(),
  baseUrl: z.string().nullable(),
  hasKey: z.boolean(),
  enabled: z.boolean(),
  createdAt: timestamp.nullable(),
});
export type AiProvider = z.output<typeof provider>;

const tried = z.object({
  ok: z.boolean(),
  message: z.string().describe('What happened, in a sentence'),
  models: z.number().describe('How many it lists'),
  model: z.string().nullable().describe('The one that was asked'),
  ms: z.number().nullable(),
});

const base = { service: 'web', auth: 'admin', tag: 'Administration' } as const;
const TAKEN = 'There is a provider <name> already';
const HALF = [BAD_NAME, NO_ADDRESS, NO_KEY];
const NO_BACKEND = { 502: ['Agent backend unavailable'] };

export const listAiProviders = endpoint({
  ...base,
  method: 'GET',
  path: '/api/admin/providers',
  summary: 'Providers of AI models: those of the environment first, in the order in which they are asked',
  reply: z.object({ providers: z.array(provider) }),
  errors: NO_BACKEND,
});

export const addProvider = endpoint({
  ...base,
  method: 'POST',
  path: '/api/admin/providers',
  summary: 'Add a provider; it is used from now on',
  body: complete,
  reply: z.object({ provider }),
  status: 201,
  errors: { ...NO_BACKEND, 400: HALF, 409: [TAKEN, 'At most 50 providers'] },
});

export const changeProvider = endpoint({
  ...base,
  method: 'PATCH',
  path: '/api/admin/providers/:id',
  summary: 'Change a provider’s address or key, or switch it on and off',
  params: idParams,
  body: z.object({ baseUrl: address.optional(), apiKey: key.optional(), enabled: z.boolean().optional() }),
  reply: z.object({ provider }),
  errors: { 404: [NOT_FOUND] },
});

export const removeProvider = endpoint({
  ...base,
  method: 'DELETE',
  path: '/api/admin/providers/:id',
  summary: 'Remove a provider; it is not used any more',
  params: idParams,
  reply: success,
  errors: { 404: [NOT_FOUND] },
});

export const testProvider = endpoint({
  ...base,
  method: 'POST',
  path: '/api/admin/providers/test',
  summary: 'Try a provider before it is added, or one that is there by its `id`: lists its models and asks one a word',
  body: z.union([z.object({ id: z.string() }), complete]),
  reply: tried,
  errors: { ...NO_BACKEND, 400: HALF, 404: [NOT_FOUND] },
  passesOn: () => [tryProvider],
});

/** The parts of the backend that stand behind these: it is the one that talks to providers. */
const behind = { service: 'backend', auth: 'internal', tag: 'AI' } as const;

export const environmentProviders = endpoint({
  ...behind,
  method: 'GET',
  path: '/api/ai/providers',
  summary: 'Providers that the environment names',
  reply: z.object({ providers: z.array(z.object({ name: z.string(), baseUrl: z.string().nullable() })) }),
});

export const tryProvider = endpoint({
  ...behind,
  method: 'POST',
  path: '/api/ai/providers/test',
  summary: 'List the models of a provider and ask one of them a word',
  body: given.refine(({ kind: is, baseUrl }) => needsNoAddress(is) || baseUrl !== undefined, NO_ADDRESS),
  reply: tried,
});
