import { readFileSync } from 'node:fs';
import { BUILT_IN_CATALOGUE, type Catalogue } from '@troupe/domain';
import { StartError, type Settings } from '@troupe/kernel';
import { z } from 'zod';
import { createProvider, type Provider, type Wire } from './provider.ts';
import { createSandbox } from './sandbox.ts';
import { DEFAULT_TIMEOUTS, type Timeouts } from './upstream.ts';
import { anthropicWire } from './wire/anthropic.ts';
import { azureAddress, azureWire } from './wire/azure.ts';
import { bedrockWire } from './wire/bedrock.ts';
import { openaiWire } from './wire/openai.ts';
import { vertexAddress, vertexWire } from './wire/vertex.ts';

/** Sockets that one process opens to one provider at most; further calls wait for one. */
const CONNECTIONS = 512;
const OWN_CONNECTIONS = 32;

export type AiSettings = Pick<
  Settings,
  | 'NODE_ENV'
  | 'AI_SANDBOX'
  | 'OPENROUTER_API_KEY'
  | 'OPENROUTER_BASE_URL'
  | 'ANTHROPIC_API_KEY'
  | 'ANTHROPIC_BASE_URL'
  | 'OPENAI_API_KEY'
  | 'OPENAI_BASE_URL'
  | 'GEMINI_API_KEY'
  | 'GEMINI_BASE_URL'
  | 'GROQ_API_KEY'
  | 'GROQ_BASE_URL'
  | 'OLLAMA_BASE_URL'
>;

type Known = [name: string, wire: Wire, apiKey: string | undefined, baseUrl: string];

const knownProviders = (settings: AiSettings): Known[] => [
  ['openrouter', openaiWire, settings.OPENROUTER_API_KEY, settings.OPENROUTER_BASE_URL],
  ['anthropic', anthropicWire, settings.ANTHROPIC_API_KEY, settings.ANTHROPIC_BASE_URL],
  ['openai', openaiWire, settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL],
  ['gemini', openaiWire, settings.GEMINI_API_KEY, settings.GEMINI_BASE_URL],
  ['groq', openaiWire, settings.GROQ_API_KEY, settings.GROQ_BASE_URL],
];

/** Makes a provider that is asked with the key of somebody else than the operator. */
export const ownProvidersFrom =
  (settings: AiSettings) =>
  (wanted: string, apiKey: string): Provider | undefined => {
    const found = knownProviders(settings).find(([name]) => name === wanted);
    if (!found) return undefined;
    const [name, wire, , baseUrl] = found;
    return createProvider({ name, wire, baseUrl, apiKey, timeouts: DEFAULT_TIMEOUTS, connections: OWN_CONNECTIONS });
  };

/** The names of the providers that the settings name. */
export const namedProviders = (settings: AiSettings): string[] => [
  ...knownProviders(settings).flatMap(([name, , apiKey]) => (apiKey === undefined ? [] : [name])),
  ...(settings.OLLAMA_BASE_URL === undefined ? [] : ['ollama']),
];

export interface ProviderGiven {
  kind: string;
  name: string;
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  /** What it has; of one that lists nothing, or lists more than can be asked. */
  models?: readonly string[] | undefined;
}

const withV1 = (url: string): string => (/\/v1\/*$/.test(url) ? url : `${url.replace(/\/+$/, '')}/v1`);

/** One that an administrator has added. Throws where an address is missing or wrong. */
export function providerOf(settings: AiSettings, given: ProviderGiven): Provider {
  const { kind, name, baseUrl, apiKey, models } = given;
  const known = knownProviders(settings).find(([one]) => one === kind);
  const address = baseUrl ?? known?.[3];
  if (address === undefined) throw new Error(`The provider ${name} has no address`);
  return createProvider({
    name,
    wire: known?.[1] ?? CLOUDS[kind]?.wire ?? openaiWire,
    baseUrl: kind === 'ollama' ? withV1(address) : (CLOUDS[kind]?.address?.(address, apiKey ?? '') ?? address),
    timeouts: DEFAULT_TIMEOUTS,
    connections: CONNECTIONS,
    ...(apiKey !== undefined && { apiKey }),
    ...(models && models.length > 0 && { models }),
  });
}

/** Large clouds, each with its own way of showing who asks; `address`: the whole of one that is given in short. */
const CLOUDS: Readonly<Record<string, { wire: Wire; address?: (given: string, apiKey: string) => string }>> = {
  azure: { wire: azureWire, address: azureAddress },
  bedrock: { wire: bedrockWire },
  vertex: { wire: vertexWire, address: vertexAddress },
};

/** The providers that the settings name, the default first; the sandbox where there are none and it is allowed. */
export function providersFrom(
  settings: AiSettings,
  timeouts: Partial<Timeouts> = {},
  added: readonly Provider[] = [],
): Provider[] {
  const limits = { ...DEFAULT_TIMEOUTS, ...timeouts };
  const providers = knownProviders(settings).flatMap(([name, wire, apiKey, baseUrl]) =>
    apiKey === undefined
      ? []
      : [createProvider({ name, wire, baseUrl, apiKey, timeouts: limits, connections: CONNECTIONS })],
  );
  const ollama = settings.OLLAMA_BASE_URL;
  if (ollama !== undefined) {
    const baseUrl = ollama.endsWith('/v1') ? ollama : `${ollama}/v1`;
    providers.push(
      createProvider({ name: 'ollama', wire: openaiWire, baseUrl, timeouts: limits, connections: CONNECTIONS }),
    );
  }
  // What the environment says counts.
  providers.push(...added.filter(({ name }) => !providers.some((one) => one.name === name)));
  const sandboxed = settings.AI_SANDBOX === 'on' && settings.NODE_ENV !== 'production';
  return providers.length === 0 && sandboxed ? [createSandbox()] : providers;
}

/** Finer ones would be counted as something else. */
const rate = z
  .number()
  .min(0)
  .max(1_000_000)
  .refine((value) => Math.abs(Math.round(value * 10_000) - value * 10_000) < 1e-6, 'a rate has at most four decimals');

const listedModel = z.object({
  id: z.string().min(1),
  name: z.string().min(1),
  description: z.string().default(''),
  tags: z.array(z.string()).default([]),
  inputRate: rate,
  outputRate: rate,
  cachedRate: rate.optional(),
  contextWindow: z.int().min(0).default(0),
  servedBy: z.record(z.string(), z.string()),
});

const catalogueSchema = z.object({
  models: z.array(listedModel).min(1),
  embeddings: z.array(listedModel).default(BUILT_IN_CATALOGUE.embeddings),
  defaultRates: z.object({ inputRate: rate, outputRate: rate, cachedRate: rate.optional() }),
  plans: z.record(z.string(), z.union([z.array(z.string()), z.literal('all')])),
  taskTypes: z.record(z.string(), z.array(z.string())),
  providers: z.record(z.string(), z.object({ primary: z.string(), fallback: z.string() })),
  demo: z.array(z.string()).min(1),
  premium: z.string(),
  second: z.string(),
  teamDefault: z.string(),
});

/** The built-in catalogue, or the operator's file in its place. */
export function readCatalogue(file: string | undefined): Catalogue {
  if (file === undefined) return BUILT_IN_CATALOGUE;
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new StartError(`AI_CATALOGUE is ${JSON.stringify(file)}, expected a JSON file: ${(error as Error).message}`);
  }
  const parsed = catalogueSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new StartError(`AI_CATALOGUE ${JSON.stringify(file)}: ${issue!.path.join('.')}: ${issue!.message.trim()}`);
}
