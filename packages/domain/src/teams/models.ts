import { z } from 'zod';
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
  routing: z
    .array(
      z.strictObject({ model: z.string().trim().min(1).max(200), examples: z.array(z.string().max(2000)).max(100) }),
    )
    .max(20)
    .optional(),
});

export interface NamedModel {
  model: string;
  sampling?: Sampling;
  routing?: Routing;
}

export type Models = ReturnType<typeof createModels>;

export function createModels(given: Readonly<Record<string, unknown>>, sieve: ReturnType<typeof createSieve>) {
  const read = new Map<string, NamedModel>();

  function reading(name: string): NamedModel {
    const parsed = namedModel.safeParse(sieve.model(name, given[name]));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new Unfit(['models', name, ...(issue?.path ?? [])].join('.'), issue?.message.trim() ?? '');
    }
    const { provider, model, thinking_budget: thinking, track_usage: _, routing, ...rest } = parsed.data;
    const sampling: Sampling = { ...rest, ...(thinking !== undefined && { reasoning: reasoningOf(thinking) }) };
    return {
      model: `${provider}/${model}`,
      ...(Object.keys(sampling).length > 0 && { sampling }),
      ...(routing && routing.length > 0 && { routing }),
    };
  }

  /** A model by its name in the document, or as it is called everywhere. */
  function named(wanted: string, at: string): NamedModel {
    if (wanted === '' || wanted.length > 300) throw new Unfit(at, 'names no model');
    if (!Object.hasOwn(given, wanted)) return { model: wanted };
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
