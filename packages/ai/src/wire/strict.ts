/** Which schemas Anthropic can hold a call to. With another one `strict` is refused there, which OpenAI takes. */

const UNKNOWN: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'patternProperties',
  'oneOf',
  'not',
  'if',
]);
/** Values, not schemas. */
const VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'required']);
/** Under these every key is a name of the schema's author. */
const NAMED: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);
const MOST_PARTS = 5_000;

type Schema = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null;

const isOpen = (schema: Schema): boolean =>
  ('properties' in schema || schema['type'] === 'object') && schema['additionalProperties'] !== false;

const isUnknown = (schema: Schema): boolean =>
  isOpen(schema) ||
  schema['$ref'] === '#' ||
  Number(schema['minItems'] ?? 0) > 1 ||
  Object.keys(schema).some((name) => UNKNOWN.has(name));

const inside = (schema: Schema): unknown[] =>
  Object.entries(schema).flatMap(([name, value]) => {
    if (VALUES.has(name) || !isObject(value)) return [];
    return NAMED.has(name) || Array.isArray(value) ? Object.values(value) : [value];
  });

/** As deep as it may be, and no longer than is worth it. */
export function canBeHeld(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const left: Schema[] = [schema];
  for (let count = 0; left.length > 0; count += 1) {
    const one = left.pop()!;
    if (count > MOST_PARTS || isUnknown(one)) return false;
    left.push(...inside(one).filter(isObject));
  }
  return true;
}
