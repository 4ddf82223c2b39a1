import type { Chance } from './random.ts';

/** JSON texts for a schema: some as it wants them, most of them wrong somewhere. */

/** The part of JSON Schema that zod prints. */
export interface Schema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  items?: Schema | boolean;
  format?: string;
  pattern?: string;
  minLength?: number;
  minimum?: number;
  maximum?: number;
}

/** What the run knows that a guess would not find. Addresses lead to this machine, or nowhere. */
export interface Known {
  ids: readonly string[];
  emails: readonly string[];
}

const nested = (levels: number, open: string, close: string): string => open.repeat(levels) + close.repeat(levels);

/** Each is the text of a JSON value, or nearly one. */
const NASTY: readonly ((random: Chance) => string)[] = [
  () => 'null',
  () => 'true',
  () => '[]',
  () => '{}',
  () => '""',
  () => '0',
  () => '-1',
  () => '1e308',
  () => '-0.0000001',
  () => '9007199254740993',
  () => '123456789012345678901234567890',
  () => 'NaN',
  () => String.raw`"\ud800"`,
  () => String.raw`"a\udfffb"`,
  () => String.raw`"\u0000"`,
  () => String.raw`"a\u0000b"`,
  () => String.raw`"\u202e\u200b\ufeff"`,
  () => String.raw`"\u0001\u001b[31m"`,
  () => '"用户@例子.com"',
  () => '"😀😀😀"',
  () => '"../../../../etc/passwd"',
  () => '".."',
  () => '"%2e%2e%2f"',
  () => `"'; drop table users; --"`,
  () => '"%s%n%x${7*7}{{7*7}}"',
  () => '"http://127.0.0.1:1/"',
  () => '"http://[::1]:1/x?y#z"',
  () => '"file:///etc/passwd"',
  () => '"javascript:alert(1)"',
  () => '"0x0000000000000000000000000000000000000000"',
  () => '"2026-13-45T99:99:99Z"',
  () => '"-271821-04-20T00:00:00.000Z"',
  () => '"* * * * * *"',
  () => '"0 0 31 2 *"',
  () => '{"__proto__":{"admin":true}}',
  () => '{"constructor":{"prototype":{"admin":true}}}',
  () => '{"toString":1,"length":-1,"then":"x"}',
  () => '[[],{},null,"",0]',
  (random) => JSON.stringify('x'.repeat(10 ** (1 + random.whole(5)))),
  (random) => JSON.stringify('é'.repeat(1 + random.whole(70_000))),
  (random) => nested(60 + random.whole(10), '[', ']'),
  (random) => nested(100 + random.whole(5000), '[', ']'),
  (random) => `${'{"a":'.repeat(60 + random.whole(3000))}1`,
  (random) => JSON.stringify(Array.from({ length: random.whole(5000) }, (_, at) => at)),
  (random) => `{${Array.from({ length: 1 + random.whole(2000) }, (_, at) => `"k${at}":${at}`).join(',')}}`,
];

export const nastyText = (random: Chance): string => random.pick(NASTY)(random);

const WORDS = ['a', 'Ada', 'solo', 'network', 'owner', 'general', 'x y', 'sandbox', 'openrouter', '1h', '5m', 'UTC'];
/** A token that looks right would be shown to a messaging service. */
const TO_SERVICES = /channelToken|apiKey|token[ABC]$/i;

function textFor({ format, pattern, minLength = 0 }: Schema, name: string, random: Chance, known: Known): string {
  if (/(^|[a-z])id$/i.test(name) && random.percent(70)) return random.pick(known.ids);
  if (format === 'email' || /e-?mail/i.test(name)) return random.pick(known.emails);
  if (format === 'date-time') return '2026-01-02T03:04:05.000Z';
  if (format === 'uri' || /url$/i.test(name)) return random.pick(['http://127.0.0.1:1/', 'http://localhost:9/x']);
  if (/cron/i.test(name)) return random.pick(['0 9 * * *', '*/5 * * * *', '@daily']);
  if (/yaml/i.test(name)) return random.pick(['name: t\nagents:\n  - name: a\n    role: r\n', 'a: [1', '&a [*a]']);
  if (/password/i.test(name)) return random.pick(['correct horse battery', 'short', '12345678']);
  if (pattern?.includes('0x')) return `0x${'ab'.repeat(pattern.includes('64') ? 32 : 20)}`;
  if (/amount|price|limit|usd/i.test(name)) return random.pick(['1.50', '0', '-3', '1e9', '0.0000001']);
  return random.pick(WORDS).padEnd(minLength, 'x');
}

function objectFor(schema: Schema, random: Chance, known: Known, depth: number): string {
  const required = new Set(schema.required);
  const fields = Object.entries(schema.properties ?? {})
    .filter(([name]) => required.has(name) || random.percent(60))
    .filter(([name]) => !TO_SERVICES.test(name))
    .map(([name, inner]) => `${JSON.stringify(name)}:${jsonFor(inner, name, random, known, depth + 1)}`);
  if (random.percent(5)) fields.push(`"unknown":${nastyText(random)}`);
  if (random.percent(2) && fields[0]) fields.push(fields[0]);
  return `{${fields.join(',')}}`;
}

/** `wrong` percents of the parts are not what the schema wants. */
export function jsonFor(schema: Schema, name: string, random: Chance, known: Known, depth = 0): string {
  if (random.percent(depth === 0 ? 4 : 14)) return nastyText(random);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return JSON.stringify(random.pick(schema.enum));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return jsonFor(random.pick(choices), name, random, known, depth);
  if (schema.allOf) return jsonFor(random.pick(schema.allOf), name, random, known, depth);
  const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type;
  switch (type) {
    case 'string':
      return JSON.stringify(textFor(schema, name, random, known));
    case 'integer':
    case 'number': {
      const { minimum = 0, maximum = 100 } = schema;
      return String(random.pick([minimum, maximum, 1, 10, minimum - 1, maximum + 1]));
    }
    case 'boolean':
      return random.pick(['true', 'false']);
    case 'null':
      return 'null';
    case 'array': {
      const items = typeof schema.items === 'object' ? schema.items : {};
      return `[${Array.from({ length: random.whole(4) }, () => jsonFor(items, name, random, known, depth + 1)).join(',')}]`;
    }
    case 'object':
      return objectFor(schema, random, known, depth);
    default:
      return depth > 3 ? '1' : nastyText(random);
  }
}
