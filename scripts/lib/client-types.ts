import { z } from 'zod';
import { allEndpoints, type Endpoint } from '@troupe/contract';

/** The contract as types that need nothing but TypeScript, for who installs the client without the platform. */

type Schema = Record<string, unknown>;

const HEAD = `/* Made from the contract by \`npm run docs:client\`; a test compares. */

/** Every endpoint that a person or a program may call: what it takes, and what it answers. */
export interface Endpoints {
`;

/** Between agents: their owners use the dashboard, and agents their tools. */
const LEFT_OUT = new Set(['Underground']);

export function clientTypes(): string {
  const endpoints = allEndpoints()
    .filter(({ service, tag }) => service === 'web' && !LEFT_OUT.has(tag))
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return `${HEAD}${endpoints.map(entry).join('')}}\n`;
}

const keyOf = ({ method, path }: Endpoint): string => `${method} ${path}`;

function entry(one: Endpoint): string {
  const parts = [
    paramsOf(one),
    one.query && `query${optional(one.query)}: ${typeOf(one.query, 'input', 2)};`,
    one.body && `body${optional(one.body)}: ${typeOf(one.body, 'input', 2)};`,
    `reply: ${one.reply ? typeOf(one.reply, 'output', 2) : 'string'};`,
  ].filter(Boolean);
  return `  /** ${one.summary.replaceAll('*/', '*\\/')} */\n  '${keyOf(one)}': {\n${parts.map((part) => `    ${String(part)}\n`).join('')}  };\n`;
}

function paramsOf({ path }: Endpoint): string | null {
  const names = [...path.matchAll(/:([A-Za-z]+)/g)].map(([, name]) => `${name}: string`);
  return names.length === 0 ? null : `params: { ${names.join('; ')} };`;
}

/** Nothing of it is needed. */
const optional = (schema: z.ZodType): string => {
  const { required = [] } = jsonSchema(schema, 'input') as { required?: unknown[] };
  return required.length === 0 ? '?' : '';
};

const jsonSchema = (schema: z.ZodType, io: 'input' | 'output'): Schema =>
  z.toJSONSchema(schema, { io, unrepresentable: 'any', cycles: 'ref' }) as Schema;

function typeOf(schema: z.ZodType, io: 'input' | 'output', depth: number): string {
  const root = jsonSchema(schema, io);
  return printed(root, depth, (root['$defs'] ?? {}) as Record<string, Schema>);
}

/** TypeScript of a JSON Schema. What it cannot say is `unknown`. */
function printed(schema: Schema, depth: number, defs: Record<string, Schema>, within: readonly string[] = []): string {
  const print = (one: unknown, deeper = depth): string => printed(one as Schema, deeper, defs, within);
  if (typeof schema['$ref'] === 'string') {
    const name = schema['$ref'].replace('#/$defs/', '');
    const found = defs[name];
    return found === undefined || within.includes(name) ? 'unknown' : printed(found, depth, defs, [...within, name]);
  }
  if ('const' in schema) return literal(schema['const']);
  if (Array.isArray(schema['enum'])) return union(schema['enum'].map(literal));
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) return union(choices.map((one) => print(one)));
  if (Array.isArray(schema['allOf'])) return schema['allOf'].map((one) => print(one)).join(' & ');
  if (Array.isArray(schema['type'])) return union(schema['type'].map((type) => print({ ...schema, type })));
  if (schema['type'] === 'array') return `(${print(schema['items'] ?? {})})[]`.replace(/^\((\w+)\)\[\]$/, '$1[]');
  if (schema['type'] === 'object') return objectType(schema, depth, print);
  return SIMPLE[String(schema['type'])] ?? 'unknown';
}

const SIMPLE: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

function objectType(schema: Schema, depth: number, print: (one: unknown, deeper: number) => string): string {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
  const required = new Set((schema['required'] ?? []) as string[]);
  const pad = '  '.repeat(depth + 1);
  const lines = properties.map(([name, one]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name);
    return `${pad}${key}${required.has(name) ? '' : '?'}: ${print(one, depth + 1)};\n`;
  });
  const more = schema['additionalProperties'];
  if (lines.length === 0) {
    const values = typeof more === 'object' && more !== null ? print(more, depth) : 'unknown';
    return `Record<string, ${values}>`;
  }
  if (typeof more === 'object' && more !== null) lines.push(`${pad}[key: string]: unknown;\n`);
  return `{\n${lines.join('')}${'  '.repeat(depth)}}`;
}

const literal = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : JSON.stringify(value);

const union = (types: string[]): string => [...new Set(types)].join(' | ');
