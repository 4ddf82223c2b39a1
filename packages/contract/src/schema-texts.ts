import type { z } from 'zod';

interface Def {
  error?: () => unknown;
  checks?: readonly { _zod: { def: Def } }[];
  shape?: Record<string, z.ZodType>;
  options?: readonly z.ZodType[];
  items?: readonly z.ZodType[];
  [part: string]: unknown;
}

/** Parts of a schema that are one schema each. */
const PARTS = [
  'innerType',
  'element',
  'in',
  'out',
  'left',
  'right',
  'keyType',
  'valueType',
  'catchall',
  'rest',
] as const;

/**
 * The texts of its own that a schema refuses with, however deep. One that is made from what is wrong is not known before:
 * the endpoint declares it.
 */
export function schemaTexts(schema: z.ZodType | undefined): string[] {
  const texts = new Set<string>();
  const seen = new Set<unknown>();
  const take = ({ error }: Def): void => {
    const text = error?.length === 0 ? error() : undefined;
    if (typeof text === 'string') texts.add(text);
  };
  const visit = (one: z.ZodType | null | undefined): void => {
    if (!one || seen.has(one)) return;
    seen.add(one);
    const def = one._zod.def as unknown as Def;
    take(def);
    for (const check of def.checks ?? []) take(check._zod.def);
    for (const part of PARTS) visit(def[part] as z.ZodType | undefined);
    for (const inner of [...Object.values(def.shape ?? {}), ...(def.options ?? []), ...(def.items ?? [])]) visit(inner);
  };
  visit(schema);
  return [...texts];
}
