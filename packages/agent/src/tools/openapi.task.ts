import { z } from 'zod';
import { MAX_SCHEMA, sizeOf } from './mcp-listing.ts';

/** Reads an OpenAPI document. It may say anything, and its references may stand for more than any machine holds. */

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const MAX_TOOLS = 64;
/** Of one operation, all that its references stand for included: more would be no schema that a model is shown. */
const MAX_VALUES = 8_192;
const MAX_DEPTH = 12;
const MAX_PATH = 2_000;

const parameter = z.looseObject({
  name: z.string().regex(/^[\w.[\]-]{1,64}$/),
  in: z.enum(['path', 'query', 'header', 'cookie']),
  required: z.boolean().optional(),
  description: z.string().optional(),
  schema: z.record(z.string(), z.unknown()).optional(),
});

const operation = z.looseObject({
  operationId: z.string().optional(),
  summary: z.string().optional(),
  description: z.string().optional(),
  parameters: z.array(z.unknown()).optional(),
  requestBody: z.unknown().optional(),
});
const body = z.looseObject({ content: z.looseObject({ 'application/json': z.looseObject({ schema: z.unknown() }) }) });

/** An operation of the interface, as it is called and as a model is told of it. */
export interface Operation {
  name: string;
  description: string;
  method: (typeof METHODS)[number];
  path: string;
  parameters: { name: string; in: 'path' | 'query' | 'header'; required: boolean }[];
  hasBody: boolean;
  schema: Record<string, unknown>;
}

export interface Interface {
  /** The server that it names, as it is written. */
  server: string | undefined;
  operations: Operation[];
}

/** Throws with a sentence where it is none. */
export function run({ text }: { text: string }): Interface {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw new Error('it is no JSON');
  }
  const { paths, servers } = (isObject(document) ? document : {}) as { paths?: unknown; servers?: unknown };
  if (!isObject(paths)) throw new Error('it is no OpenAPI document');
  const first = Array.isArray(servers) ? (servers[0] as { url?: unknown } | null | undefined)?.url : undefined;
  return {
    server: typeof first === 'string' ? first : undefined,
    operations: written(paths).flatMap((one) => operationOf(document, one)),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface Written {
  path: string;
  method: Operation['method'];
  given: unknown;
}

function written(paths: Record<string, unknown>): Written[] {
  const found: Written[] = [];
  for (const [path, methods] of Object.entries(paths)) {
    if (!path.startsWith('/') || path.length > MAX_PATH || !isObject(methods)) continue;
    for (const method of METHODS)
      if (Object.hasOwn(methods, method)) found.push({ path, method, given: methods[method] });
    if (found.length >= MAX_TOOLS) break;
  }
  return found.slice(0, MAX_TOOLS);
}

class TooLarge extends Error {}

/** Puts in what references within the document stand for. One that goes in circles ends at a few levels. */
function createResolving(document: unknown) {
  let left = MAX_VALUES;
  return function resolved(value: unknown, depth = 0): unknown {
    left -= 1;
    if (left < 0) throw new TooLarge();
    if (typeof value !== 'object' || value === null) return value;
    if (depth > MAX_DEPTH) return {};
    if (Array.isArray(value)) return value.slice(0, 200).map((one) => resolved(one, depth + 1));
    const ref = (value as { $ref?: unknown }).$ref;
    if (typeof ref === 'string') return resolved(referred(document, ref), depth + 3);
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolved(one, depth + 1)]));
  };
}

function referred(document: unknown, ref: string): unknown {
  let found: unknown = ref.startsWith('#/') ? document : undefined;
  for (const step of ref.slice(2).split('/', MAX_DEPTH)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    found = typeof found === 'object' && found !== null && Object.hasOwn(found, key) ? found[key as never] : undefined;
  }
  return found ?? {};
}

function operationOf(document: unknown, { path, method, given }: Written): Operation[] {
  const read = operation.safeParse(given);
  if (!read.success) return [];
  const { operationId, summary, description } = read.data;
  let shape: Pick<Operation, 'parameters' | 'hasBody' | 'schema'>;
  try {
    shape = shapeOf(createResolving(document), read.data);
  } catch (error) {
    if (error instanceof TooLarge) return [];
    throw error;
  }
  if (sizeOf(shape.schema, MAX_SCHEMA) === undefined) return [];
  return [
    {
      ...shape,
      name: (operationId ?? `${method}_${path}`)
        .slice(0, 1000)
        .replaceAll(/[^A-Za-z0-9_-]+/g, '_')
        .slice(0, 64),
      description: (summary ?? description ?? `${method} ${path}`).slice(0, 1000),
      method,
      path,
    },
  ];
}

function shapeOf(
  resolved: ReturnType<typeof createResolving>,
  { parameters: given = [], requestBody }: z.output<typeof operation>,
): Pick<Operation, 'parameters' | 'hasBody' | 'schema'> {
  const parameters = given.flatMap((one) => {
    const known = parameter.safeParse(resolved(one));
    return known.success && known.data.in !== 'cookie' ? [{ ...known.data, in: known.data.in }] : [];
  });
  const content = body.safeParse(resolved(requestBody ?? {}));
  const properties = parameters.map(({ name, description, schema }) => [
    name,
    { type: 'string', ...schema, ...(description && { description }) },
  ]);
  return {
    parameters: parameters.map(({ name, in: where, required = false }) => ({
      name,
      in: where,
      required: required || where === 'path',
    })),
    hasBody: content.success,
    schema: {
      type: 'object',
      properties: {
        ...Object.fromEntries(properties),
        ...(content.success && { body: content.data.content['application/json'].schema ?? {} }),
      },
      required: parameters.filter((one) => one.required || one.in === 'path').map(({ name }) => name),
    },
  };
}
