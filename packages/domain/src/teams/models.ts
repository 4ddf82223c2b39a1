import { z } from 'zod';
import { webAddress } from '../web-address.ts';
import { PROVIDER_KEYS } from './format.ts';
import { Unfit, type createSieve, type Notes } from './sift.ts';
import { samplingSchema, type Routing, type Sampling } from './traits.ts';

/** The models that a document names. */

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

const budget = z.union([z.enum(EFFORTS), z.literal('adaptive'), z.int().min(-1).max(1_000_000)], {
  error: `must be a number of tokens, adaptive, or one of ${EFFORTS.join(', ')}`,
});

function reasoningOf(given: z.output<typeof budget>): NonNullable<Sampling['reasoning']> {
  if (given === 0) return { effort: 'none' };
  if (given === -1 || given === 'adaptive') return { adaptive: true };
  return typeof given === 'number' ? { max_tokens: given } : { effort: given };
}

const namedModel = z.strictObject({
  ...samplingSchema.omit({ reasoning: true }).shape,
  provider: z.string().trim().min(1).max(100),
  model: z.string().trim().min(1).max(200),
  thinking_budget: budget.optional(),
  track_usage: z.boolean().optional(),
  base_url: webAddress.optional(),
  token_key: z.string().max(200).optional(),
  provider_opts: z.object({ interleaved_thinking: z.boolean().optional() }).optional(),
  routing: z
    .array(
      z.strictObject({ model: z.string().trim().min(1).max(200), examples: z.array(z.string().max(2000)).max(100) }),
    )
    .max(20)
    .optional(),
});

/** Names that mean something else here. */
const TAKEN = new Set(['openai', 'anthropic', 'openrouter', 'gemini', 'google', 'groq', 'ollama', 'sandbox']);

/** A provider is named by small letters, digits and dashes, and begins with a letter. */
function providerName(given: string): string {
  const name = given
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 28);
  return /^[a-z].+$/.test(name) && !TAKEN.has(name) ? name : `own-${name}`;
}

export interface NamedModel {
  model: string;
  sampling?: Sampling;
  routing?: Routing;
}

export type Models = ReturnType<typeof createModels>;

type Sieve = ReturnType<typeof createSieve>;

const provider = z.strictObject({
  base_url: webAddress,
  token_key: z.string().max(200).optional(),
  api_type: z.string().max(100).optional(),
});

const makeProvider = (name: string, url: string, key: string | undefined): string =>
  `an administrator makes a provider named ${name} with the address ${url}${key ? ` and the key that ${key} stands for` : ''}`;

/** Providers that a document brings; one is named when a model of it is used. */
export function providersOf(given: Readonly<Record<string, unknown>>, sieve: Sieve): Map<string, string> {
  return new Map(
    Object.entries(given).map(([name, value]) => {
      const at = `providers.${name.slice(0, 100)}`;
      const read = provider.safeParse(sieve.keys(at, value, PROVIDER_KEYS));
      if (!read.success) {
        const [issue] = read.error.issues;
        throw new Unfit([at, ...(issue?.path ?? [])].join('.'), issue?.message.trim() ?? '');
      }
      return [name, makeProvider(providerName(name), read.data.base_url, read.data.token_key)];
    }),
  );
}

/** Tells of a provider that has to be there, once, and says how its model is called. */
function createNeeds({ notes }: Sieve, providers: ReadonlyMap<string, string>) {
  const told = new Set<string>();
  return (model: string): string => {
    const name = model.slice(0, model.indexOf('/'));
    const says = providers.get(name);
    if (says !== undefined && !told.has(name)) notes.toGive.push({ at: `providers.${name}`, says });
    told.add(name);
    return says === undefined ? model : `${providerName(name)}${model.slice(name.length)}`;
  };
}

/** How much it thinks. Between calls of tools only where the model is told so. */
function thinkingOf(
  { provider: by, thinking_budget: thinking, provider_opts: options }: z.output<typeof namedModel>,
  at: string,
  { notes }: Sieve,
): Sampling['reasoning'] {
  const thinks = thinking !== undefined && thinking !== 0 && thinking !== 'none';
  const isInterleaved = options?.interleaved_thinking === true && thinks && by.includes('bedrock');
  if (options?.interleaved_thinking && !isInterleaved)
    notes.lost.push({
      at: `${at}.provider_opts.interleaved_thinking`,
      says: 'it is said to models of Bedrock that have a thinking_budget',
    });
  if (thinking === undefined) return undefined;
  return { ...reasoningOf(thinking), ...(isInterleaved && { interleaved: true as const }) };
}

export function createModels(
  given: Readonly<Record<string, unknown>>,
  sieve: Sieve,
  providers: ReadonlyMap<string, string>,
) {
  const needs = createNeeds(sieve, providers);
  const read = new Map<string, NamedModel>();

  function reading(name: string): NamedModel {
    const parsed = namedModel.safeParse(sieve.model(name, given[name]));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new Unfit(['models', name, ...(issue?.path ?? [])].join('.'), issue?.message.trim() ?? '');
    }
    const { provider: by, model, thinking_budget: _t, track_usage: _u, provider_opts: _o, ...more } = parsed.data;
    const { base_url: url, token_key: key, routing, ...rest } = more;
    const reasoning = thinkingOf(parsed.data, `models.${name}`, sieve);
    const sampling: Sampling = { ...rest, ...(reasoning && { reasoning }) };
    const from = url === undefined ? by : providerName(new URL(url).hostname);
    if (url !== undefined)
      sieve.notes.toGive.push({ at: `models.${name}.base_url`, says: makeProvider(from, url, key) });
    return {
      model: needs(`${from}/${model}`),
      ...(Object.keys(sampling).length > 0 && { sampling }),
      ...(routing && routing.length > 0 && { routing }),
    };
  }

  /** A model by its name in the document, or as it is called everywhere. */
  function named(wanted: string, at: string): NamedModel {
    if (wanted === '' || wanted.length > 300) throw new Unfit(at, 'names no model');
    if (!Object.hasOwn(given, wanted)) return { model: needs(wanted) };
    const found = read.get(wanted) ?? reading(wanted);
    read.set(wanted, found);
    return found;
  }

  /** A model beside the agent's own: it is asked with that one's settings. */
  function plain(wanted: string, at: string, sampling: Sampling | undefined, { lost }: Notes): string {
    const { model, sampling: own } = named(wanted, at);
    if (own && JSON.stringify(own) !== JSON.stringify(sampling))
      lost.push({ at: `${at} (${wanted})`, says: 'it is asked with the settings of the agent’s first model' });
    return model;
  }

  return { named, plain };
}
