import { domainAllowed, type OpenApi } from '@troupe/domain';
import { OutboundError, type Outbound } from '@troupe/kernel';
import { z } from 'zod';
import { MAX_SCHEMA, sizeOf } from './mcp-listing.ts';
import { failed, type Tool, type ToolContext, type ToolResult } from './tool.ts';

/** The operations of an HTTP interface as tools, read from its OpenAPI document. It may say anything. */

const MAX_BYTES = 2 * 1024 * 1024;
const MAX_TOOLS = 64;
const MAX_CHARACTERS = 40_000;
const KEPT_MS = 600_000;
const FAILED_MS = 60_000;
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

const parameter = z.looseObject({
  name: z.string().regex(/^[\w.[\]-]{1,64}$/),
  in: z.enum(['path', 'query', 'header', 'cookie']),
  required: z.boolean().optional(),
  description: z.string().optional(),
  schema: z.record(z.string(), z.unknown()).optional(),
});
type Parameter = z.output<typeof parameter>;

const operation = z.looseObject({
  operationId: z.string().optional(),
  summary: z.string().optional(),
  description: z.string().optional(),
  parameters: z.array(z.unknown()).optional(),
  requestBody: z.unknown().optional(),
});
const spec = z.looseObject({
  servers: z.array(z.looseObject({ url: z.string() })).optional(),
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
});
type Spec = z.output<typeof spec>;

/** Puts in what references within the document stand for. One that goes in circles ends at a few levels. */
function resolved(document: Spec, value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth > 12) return depth > 12 ? {} : value;
  if (Array.isArray(value)) return value.slice(0, 200).map((one) => resolved(document, one, depth + 1));
  const ref = (value as { $ref?: unknown }).$ref;
  if (typeof ref !== 'string')
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolved(document, one, depth + 1)]));
  let found: unknown = ref.startsWith('#/') ? document : undefined;
  for (const step of ref.slice(2).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    found = typeof found === 'object' && found !== null && Object.hasOwn(found, key) ? found[key as never] : undefined;
  }
  return resolved(document, found ?? {}, depth + 3);
}

interface Operation {
  method: (typeof METHODS)[number];
  path: string;
  parameters: Parameter[];
  hasBody: boolean;
  base: string;
  headers: Record<string, string>;
}

function toolOf(document: Spec, given: unknown, about: Omit<Operation, 'parameters' | 'hasBody'>, outbound: Outbound) {
  const read = operation.safeParse(given);
  if (!read.success) return [];
  const parameters = (read.data.parameters ?? []).flatMap((one) => {
    const known = parameter.safeParse(resolved(document, one));
    return known.success && known.data.in !== 'cookie' ? [known.data] : [];
  });
  const content = z
    .looseObject({ content: z.looseObject({ 'application/json': z.looseObject({ schema: z.unknown() }) }) })
    .safeParse(resolved(document, read.data.requestBody ?? {}));
  const body = content.success ? { body: content.data.content['application/json'].schema ?? {} } : {};
  const schema = {
    type: 'object',
    properties: {
      ...Object.fromEntries(
        parameters.map(({ name, description, schema: type }) => [
          name,
          { type: 'string', ...type, ...(description && { description }) },
        ]),
      ),
      ...body,
    },
    required: parameters.filter((one) => one.required || one.in === 'path').map(({ name }) => name),
  };
  if (sizeOf(schema, MAX_SCHEMA) === undefined) return [];
  const { operationId, summary, description } = read.data;
  const name = (operationId ?? `${about.method}_${about.path}`).replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, 64);
  const call: Operation = { ...about, parameters, hasBody: content.success };
  const tool: Tool = {
    name,
    toolset: 'openapi',
    // The name is the document's choice, and gains nothing by being like one of the agent's own.
    offeredAs: name,
    description: (summary ?? description ?? `${about.method} ${about.path}`).slice(0, 1000),
    parameters: schema,
    repeatable: about.method === 'get',
    run: (args, context) => ask(call, args, context, outbound),
  };
  return [tool];
}

async function ask(
  { method, path, parameters, hasBody, base, headers }: Operation,
  given: unknown,
  { signal, definition }: ToolContext,
  outbound: Outbound,
): Promise<ToolResult> {
  const args = z.record(z.string(), z.unknown()).safeParse(given);
  if (!args.success) return failed('Invalid arguments: give an object.');
  const text = (name: string): string | undefined => {
    const value = args.data[name];
    return value === undefined || value === null || typeof value === 'string'
      ? (value ?? undefined)
      : JSON.stringify(value);
  };
  const missing = parameters.find((one) => (one.required || one.in === 'path') && text(one.name) === undefined);
  if (missing) return failed(`Invalid arguments. ${missing.name} is required.`);
  const filled = path.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => encodeURIComponent(text(name) ?? ''));
  const url = new URL(base.replace(/\/$/, '') + filled);
  const sent: Record<string, string> = {};
  for (const { name, in: where } of parameters) {
    const value = text(name);
    if (value === undefined) continue;
    if (where === 'query') url.searchParams.set(name, value);
    if (where === 'header' && /^[A-Za-z0-9-]+$/.test(name)) sent[name] = value.replaceAll(/[\r\n]/g, ' ');
  }
  const { allowedDomains } = definition.config.safety;
  if (allowedDomains.length > 0 && !domainAllowed(url.hostname, allowedDomains))
    return failed(`The owner does not allow ${url.hostname}.`);
  try {
    const response = await outbound.fetch(url, {
      method: method.toUpperCase() as 'GET',
      headers: { ...sent, ...headers, ...(hasBody && { 'content-type': 'application/json' }) },
      ...(hasBody && { body: JSON.stringify(args.data['body'] ?? {}) }),
      signal,
      maxBytes: MAX_BYTES,
      redirects: 0,
    });
    const content = (await response.text()).slice(0, MAX_CHARACTERS) || `(answered ${response.status})`;
    return response.status < 400 ? { content } : failed(`The server answered ${response.status}.\n${content}`);
  } catch (error) {
    if (error instanceof OutboundError) return failed(error.message);
    throw error;
  }
}

async function read({ url, headers = {} }: OpenApi, outbound: Outbound): Promise<Tool[]> {
  const response = await outbound.fetch(url, { maxBytes: MAX_BYTES, redirects: 0 });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
  const document = spec.parse(JSON.parse(text));
  const base = new URL(document.servers?.[0]?.url ?? '/', url);
  // The headers are secrets: a document may not send them to another server.
  const kept = base.origin === new URL(url).origin ? headers : {};
  const tools = Object.entries(document.paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => Object.hasOwn(methods, method)).map((method) => ({
      path,
      method,
      given: methods[method],
    })),
  );
  return tools
    .filter(({ path }) => path.startsWith('/'))
    .slice(0, MAX_TOOLS)
    .flatMap(({ path, method, given }) =>
      toolOf(document, given, { path, method, base: base.href, headers: kept }, outbound),
    );
}

/** Documents are read once in ten minutes; one that cannot be read is told, and asked for again after a minute. */
export function createOpenApi(outbound: Outbound, onFailure: (url: string, why: string) => void) {
  const known = new Map<string, { until: number; tools: Promise<Tool[]> }>();
  return async (interfaces: readonly OpenApi[]): Promise<Tool[]> => {
    const all = interfaces.map(async (one) => {
      const key = JSON.stringify(one);
      const found = known.get(key);
      if (found && found.until > Date.now()) return found.tools;
      const tools = read(one, outbound);
      known.set(key, { until: Date.now() + KEPT_MS, tools });
      try {
        return await tools;
      } catch (error) {
        known.set(key, { until: Date.now() + FAILED_MS, tools: Promise.resolve([]) });
        onFailure(
          one.url,
          error instanceof z.ZodError ? 'it is no OpenAPI document' : (error as Error).message.slice(0, 200),
        );
        return [];
      }
    });
    return (await Promise.all(all)).flat();
  };
}
