import { z } from 'zod';

/** Providers of AI models, as administrators add, try and remove them. A change counts at once in every process. */

export const PROVIDER_KINDS = [
  'openrouter',
  'anthropic',
  'openai',
  'gemini',
  'groq',
  'azure',
  'bedrock',
  'vertex',
  'ollama',
  'compatible',
] as const;
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
/** As long as the file of a service account. */
export const key = z.string().trim().min(1, NO_KEY).max(8000);
export const NO_MODELS = 'Models required: it does not list them';
export const models = z
  .array(z.string().trim().min(1, 'A model needs a name').max(200))
  .max(100)
  .describe(
    'What it has, in place of what it lists; for azure the names of deployments. Needed for bedrock and vertex',
  );

export const given = z.object({
  kind,
  name: z
    .string()
    .trim()
    .regex(/^[a-z][a-z0-9-]{1,31}$/, BAD_NAME)
    .optional()
    .describe(
      'Its models are called `name/model`. Needed for compatible, possible for azure, bedrock and vertex; the others go by their kind',
    ),
  baseUrl: address
    .optional()
    .describe(
      'Needed for ollama, compatible, azure (`https://RESOURCE.openai.azure.com`), bedrock (`https://bedrock-runtime.REGION.amazonaws.com`) and vertex (`https://REGION-aiplatform.googleapis.com`); the provider’s own address otherwise',
    ),
  apiKey: key
    .optional()
    .describe(
      'Kept encrypted, never shown again. Of bedrock its own key, or `ID:SECRET` of an access key; of vertex the JSON file of a service account',
    ),
  models: models.optional(),
});

const CLOUDS = ['azure', 'bedrock', 'vertex'];
export const needsNoAddress = (is: string): boolean => !['compatible', 'ollama', ...CLOUDS].includes(is);
export const needsKey = (is: string): boolean => !['compatible', 'ollama'].includes(is);
export const needsModels = (is: string): boolean => ['bedrock', 'vertex'].includes(is);
/** One can have several of these. */
export const mayBeNamed = (is: string): boolean => is === 'compatible' || CLOUDS.includes(is);

export const tried = z.object({
  ok: z.boolean(),
  message: z.string().describe('What happened, in a sentence'),
  models: z.number().describe('How many it lists'),
  model: z.string().nullable().describe('The one that was asked'),
  ms: z.number().nullable(),
});
