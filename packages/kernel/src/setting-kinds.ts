import { z } from 'zod';

/** The kinds of settings: what each takes, what is said when it is wrong, and what it is when nothing is given. */

export interface Setting<T> {
  section: string;
  doc: string;
  secret: boolean;
  /** As it is written in `.env.example`; empty when unset. */
  example: string;
  expected: string;
  schema: z.ZodType<T>;
}

type Options = { secret?: boolean; example?: string };

/** An empty value counts as unset. */
const given = z.preprocess(
  (value) => (typeof value === 'string' && value.trim() === '' ? undefined : value),
  z.string().trim().optional(),
);

/** Settings of one section. */
const settingsOf =
  (name: string) =>
  <T>(
    doc: string,
    expected: string,
    schema: z.ZodType<T>,
    { secret = false, example = '' }: Options = {},
  ): Setting<T> => ({ section: name, doc, expected, secret, example, schema });
type Make = ReturnType<typeof settingsOf>;

function choices(setting: Make) {
  return {
    oneOf: <const T extends string>(doc: string, values: readonly T[], fallback: T): Setting<T> =>
      setting(
        doc,
        `one of ${values.join(', ')}`,
        given.transform((value) => (value ?? fallback) as T).refine((value) => values.includes(value)),
        { example: fallback },
      ),
    choice: <const T extends string>(doc: string, values: readonly T[]): Setting<T | undefined> =>
      setting(
        doc,
        `one of ${values.join(', ')}`,
        given
          .transform((value) => value as T | undefined)
          .refine((value) => value === undefined || values.includes(value)),
      ),
    list: (doc: string): Setting<string[]> =>
      setting(
        doc,
        'a comma list',
        given.transform((value) =>
          (value ?? '')
            .split(',')
            .map((entry) => entry.trim().toLowerCase())
            .filter(Boolean),
        ),
      ),
    blobs: (doc: string): Setting<string | undefined> =>
      setting(
        doc,
        'folder, postgres or s3://bucket/prefix',
        given.refine(
          (value) =>
            value === undefined || /^(?:folder|postgres|s3:\/\/[a-z0-9][a-z0-9.-]+(?:\/[\w!.*'()/-]*)?)$/.test(value),
        ),
      ),
    address: (doc: string, fallback?: string): Setting<string | undefined> =>
      setting(
        doc,
        '0x and 40 hex digits',
        given
          .transform((value) => value ?? fallback)
          .refine((value) => value === undefined || /^0x[0-9a-fA-F]{40}$/.test(value)),
        { example: fallback },
      ),
    units: (doc: string, fallback: bigint): Setting<bigint> =>
      setting(
        doc,
        'a whole number',
        given
          .refine((value) => value === undefined || /^\d{1,78}$/.test(value))
          .transform((value) => (value === undefined ? fallback : BigInt(value))),
        { example: String(fallback) },
      ),
  };
}

function addresses(setting: Make) {
  return {
    url: (doc: string, fallback?: string): Setting<string | undefined> =>
      setting(
        doc,
        'an http or https URL',
        given
          .transform((value) => value ?? fallback)
          .refine((value) => value === undefined || isHttpUrl(value))
          .transform((value) => value?.replace(/\/+$/, '')),
        { example: fallback },
      ),
    urlOr: (doc: string, fallback: string): Setting<string> =>
      setting(
        doc,
        'an http or https URL',
        given
          .transform((value) => value ?? fallback)
          .refine(isHttpUrl)
          .transform((value) => value.replace(/\/+$/, '')),
        { example: fallback },
      ),
    headers: (doc: string): Setting<Record<string, string>> =>
      setting(
        doc,
        'name=value,name=value, with values percent-encoded',
        given.transform((value, context) => {
          try {
            return value === undefined ? {} : readHeaders(value);
          } catch {
            context.addIssue('');
            return z.NEVER;
          }
        }),
        { secret: true },
      ),
    /** An address that holds a password, of one of these schemes. */
    server: (doc: string, ...schemes: string[]): Setting<string | undefined> =>
      setting(
        doc,
        `an address that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
        given.refine((value) => value === undefined || schemes.includes(value.split('://', 1)[0] ?? '')),
        { secret: true },
      ),
  };
}

/** `name=value,name=value`, values percent-encoded, as OpenTelemetry has it. */
const readHeaders = (given: string): Record<string, string> =>
  Object.fromEntries(
    given.split(',').map((pair) => {
      const [, name = '', value = ''] = /^\s*([\w-]+)\s*=\s*([\x21-\x7e]*)\s*$/.exec(pair) ?? [];
      if (name === '') throw new TypeError('no header');
      return [name.toLowerCase(), decodeURIComponent(value)];
    }),
  );

/** Makes the setting builders of one section. */
export function section(name: string) {
  const setting = settingsOf(name);
  return {
    text: (doc: string, fallback?: string, options?: Options) =>
      setting(doc, 'a text', given, { example: fallback, ...options }) as Setting<string | undefined>,
    textOr: (doc: string, fallback: string): Setting<string> =>
      setting(
        doc,
        'a text',
        given.transform((value) => value ?? fallback),
        { example: fallback },
      ),
    secret: (doc: string): Setting<string | undefined> => setting(doc, 'a text', given, { secret: true }),
    ...addresses(setting),
    whole: (doc: string, fallback: number, min: number, max: number): Setting<number> =>
      setting(
        doc,
        `a whole number from ${min} to ${max}`,
        given
          .transform((value) => (value === undefined ? fallback : Number(value)))
          .refine((value) => Number.isInteger(value) && value >= min && value <= max),
        { example: String(fallback) },
      ),
    flag: (doc: string): Setting<boolean> =>
      setting(
        doc,
        'true or false',
        given
          .transform((value) => value ?? 'false')
          .refine((value) => value === 'true' || value === 'false')
          .transform((value) => value === 'true'),
        { example: 'false' },
      ),
    ...choices(setting),
  };
}

const isHttpUrl = (value: string): boolean => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
