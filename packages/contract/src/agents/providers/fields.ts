import { z } from 'zod';

/** Providers of AI models, as administrators add, try and remove them. A change counts at once in every process. */

export const PROVIDER_KINDS = ['openrouter', 'anthropic', 'openai', 'gemini', 'groq', 'ollama', 'compatible'] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

export const BAD_NAME = 'Name must be 2 to 32 small letters, digits and dashes, and begin with a letter';
export const NO_ADDRESS = 'Address required';
export const NO_KEY = 'Key required';
const BAD_ADDRESS = 'Address must be an http or https address';

const kind = z.enum(PROVIDER_KINDS, `Kind must be one of ${PROVIDER_KINDS.join(', ')}`);
export const address = z
  .string()
  .trim()
  .max(500)
  .refine((text) => /^https?:\/\/[^\s/?#]+[^\s?#]*$/i.test(text), BAD_ADDRESS);
export const key = z.string().trim().min(1, NO_KEY).max(500);

export const given = z.object({
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

export const needsNoAddress = (is: string): boolean => !['compatible', 'ollama'].includes(is);

export const tried = z.object({
  ok: z.boolean(),
  message: z.string().describe('What happened, in a sentence'),
  models: z.number().describe('How many it lists'),
  model: z.string().nullable().describe('The one that was asked'),
  ms: z.number().nullable(),
});
