import { z } from 'zod';
import { SPENT_TEXTS } from '../../fields.ts';

/** What the protocols below /v1 have in common. */

export const tag = 'AI';
export const service = 'backend';
/** Pictures and files come inside of a request. */
export const MOST_BODY = 32 * 1024 * 1024;

export const modelName = z
  .string()
  .min(1)
  .regex(/^\P{C}*$/u, 'model must be a name without control characters')
  .max(200);

export const toolName = z.string().regex(/^[\w.:-]{1,128}$/);
export const schemaObject = z.record(z.string(), z.unknown());
export const MOST_TOOLS = 512;
export const tokenLimit = z.int().min(1).max(10_000_000);
export const cacheControl = z.object({ type: z.literal('ephemeral'), ttl: z.string().max(20).optional() });
export const effort = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);

/** How much is said: a wish, which not every model knows. */
export const verbosity = z.string().max(50);

type OrNull<Shape extends z.ZodRawShape> = { [Name in keyof Shape]: z.ZodOptional<z.ZodNullable<Shape[Name]>> };

/** OpenAI takes null for a parameter that is left out, and some clients send it. */
export const orNull = <Shape extends Record<string, z.ZodType>>(shape: Shape): OrNull<Shape> =>
  Object.fromEntries(Object.entries(shape).map(([name, schema]) => [name, schema.nullish()])) as OrNull<Shape>;

export const PLAN_ERRORS = {
  402: [
    'Valid subscription required. Choose a plan at /pricing',
    'Active subscription required. Subscribe at /pricing',
  ],
  404: ['No models available'],
} as const;

export const REFUSED = '<provider> refused the request: <reason>';

export const MODEL_ERRORS = {
  ...PLAN_ERRORS,
  400: [REFUSED],
  403: [
    'Model <id> not available on your plan. Upgrade for more models.',
    'This key is not for pages of <origin>: make one that names it',
  ],
  413: ['Request body too large'],
  429: ['AI rate limit exceeded.', 'AI provider <name> answered 429', ...SPENT_TEXTS],
  499: ['Client closed request'],
  500: ['AI provider <name> answered <status>'],
  503: ['The service is stopping'],
  502: [
    'AI provider <name> did not answer in time',
    'AI provider <name> could not be reached',
    'AI provider <name> sent an answer that cannot be used',
  ],
} as const;

/** Of a union, what its last branch says in words of its own: that is the one with the most to say. */
export function firstOf(issue: object): string | undefined {
  const { errors } = issue as { errors?: { message: string }[][] };
  return errors
    ?.at(-1)
    ?.map(({ message }) => message)
    .find((said) => !said.startsWith(' '));
}
