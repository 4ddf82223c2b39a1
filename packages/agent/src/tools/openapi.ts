import { ADDRESS_LENGTH, domainAllowed, type OpenApi } from '@troupe/domain';
import { AppError, defineTask, OutboundError, type Outbound, type WorkerPool } from '@troupe/kernel';
import { z } from 'zod';
import { leadsElsewhere, NO_DOTS } from './dots.ts';
import type { Operation, run } from './openapi.task.ts';
import { failed, type Tool, type ToolContext, type ToolResult } from './tool.ts';

/** The operations of an HTTP interface as tools, read from its OpenAPI document. It may say anything. */

const MAX_BYTES = 2 * 1024 * 1024;
const MAX_CHARACTERS = 40_000;
const KEPT_MS = 600_000;
const FAILED_MS = 60_000;
/** Of one agent: a definition has ten at most, and changes. */
const MOST_KEPT = 20;

const READ = defineTask<typeof run>(new URL('./openapi.task.ts', import.meta.url), 5_000);

export interface OpenApiDeps {
  outbound: Outbound;
  pool: WorkerPool;
  /** Whose agent it is. */
  owner: string;
  onFailure: (url: string, why: string) => void;
}

/** Where an interface is called, and what is shown there. */
interface Place {
  base: string;
  headers: Record<string, string>;
}

function toolOf(operation: Operation, place: Place, outbound: Outbound): Tool {
  const { name, description, schema, method } = operation;
  return {
    name,
    toolset: 'openapi',
    // The name is the document's choice, and gains nothing by being like one of the agent's own.
    offeredAs: name,
    description,
    parameters: schema,
    repeatable: method === 'get',
    run: (args, context) => ask({ ...operation, ...place }, args, context, outbound),
  };
}

async function ask(
  { method, path, parameters, hasBody, base, headers }: Operation & Place,
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
  const missing = parameters.find((one) => one.required && text(one.name) === undefined);
  if (missing) return failed(`Invalid arguments. ${missing.name} is required.`);
  const filled = path.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => encodeURIComponent(text(name) ?? ''));
  if (leadsElsewhere(filled)) return failed(NO_DOTS);
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

async function read({ url, headers = {} }: OpenApi, { outbound, pool, owner }: OpenApiDeps): Promise<Tool[]> {
  const response = await outbound.fetch(url, { maxBytes: MAX_BYTES, redirects: 0 });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
  const { server, operations } = await pool.run(READ, { text }, { key: owner });
  const base = (server ?? '').length > ADDRESS_LENGTH ? null : URL.parse(server ?? '/', url);
  if (!base) throw new Error('it names no server that there can be');
  // The headers are secrets: a document may not send them to another server.
  const kept = base.origin === new URL(url).origin ? headers : {};
  return operations.map((one) => toolOf(one, { base: base.href, headers: kept }, outbound));
}

/** What a thread could not do in its time is no document. */
const whyNot = (error: unknown): string =>
  error instanceof AppError && error.status === 422
    ? 'it takes too long to read'
    : (error as Error).message.slice(0, 200);

/** Documents are read once in ten minutes; one that cannot be read is told, and asked for again after a minute. */
export function createOpenApi(deps: OpenApiDeps) {
  const known = new Map<string, { until: number; tools: Promise<Tool[]> }>();
  const keep = (key: string, ms: number, tools: Promise<Tool[]>): void => {
    known.delete(key);
    known.set(key, { until: Date.now() + ms, tools });
    for (const oldest of known.keys()) if (known.size > MOST_KEPT) known.delete(oldest);
  };
  return async (interfaces: readonly OpenApi[]): Promise<Tool[]> => {
    const all = interfaces.map(async (one) => {
      const key = JSON.stringify(one);
      const found = known.get(key);
      if (found && found.until > Date.now()) return found.tools;
      const tools = read(one, deps);
      keep(key, KEPT_MS, tools);
      try {
        return await tools;
      } catch (error) {
        keep(key, FAILED_MS, Promise.resolve([]));
        deps.onFailure(one.url, whyNot(error));
        return [];
      }
    });
    return (await Promise.all(all)).flat();
  };
}
