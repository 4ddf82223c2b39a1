import { domainAllowed, type ApiTool } from '@troupe/domain';
import { OutboundError, type Outbound } from '@troupe/kernel';
import { leadsElsewhere, NO_DOTS } from './dots.ts';
import { argumentsFor } from './script.ts';
import { failed, type Tool, type ToolContext, type ToolResult } from './tool.ts';

/** Calls of an HTTP interface that the agent's definition describes: the model chooses the arguments, never the address. */

const MAX_BYTES = 1024 * 1024;
const MAX_CHARACTERS = 40_000;

export const apiTools = (apis: readonly ApiTool[], outbound: Outbound): Tool[] =>
  apis.map((api) => ({
    name: api.name,
    toolset: 'api',
    description: described(api),
    parameters: { type: 'object', properties: api.args ?? {}, required: api.required ?? [] },
    repeatable: api.method === 'GET',
    run: (given, context) => call(api, given, context, outbound),
  }));

function described({ name, instruction, output_schema: output }: ApiTool): string {
  const answers = output ? ` Answers as this schema says: ${JSON.stringify(output)}` : '';
  return `${instruction ?? `Calls ${name}.`}${answers}`.slice(0, 4000);
}

/** `${key}` in the address is the argument, written so that it stays one part of it. */
function addressOf({ endpoint }: ApiTool, values: Readonly<Record<string, string>>): string {
  return endpoint.replaceAll(/\$\{([A-Za-z_]\w*)\}/g, (_, key: string) => encodeURIComponent(values[key] ?? ''));
}

async function call(
  api: ApiTool,
  given: unknown,
  { signal, definition }: ToolContext,
  outbound: Outbound,
): Promise<ToolResult> {
  const values = argumentsFor(given, api.args ?? {}, api.required ?? []);
  if (typeof values === 'string') return failed(values);
  const address = addressOf(api, values);
  if (leadsElsewhere(address)) return failed(NO_DOTS);
  const { hostname } = new URL(address);
  const { allowedDomains } = definition.config.safety;
  if (allowedDomains.length > 0 && !domainAllowed(hostname, allowedDomains))
    return failed(`The owner does not allow ${hostname}.`);
  const hasBody = api.method !== 'GET' && api.method !== 'DELETE';
  try {
    const response = await outbound.fetch(address, {
      method: api.method,
      headers: { ...api.headers, ...(hasBody && { 'content-type': 'application/json' }) },
      ...(hasBody && { body: JSON.stringify(given) }),
      signal,
      maxBytes: MAX_BYTES,
      redirects: 0,
    });
    const content = (await response.text()).slice(0, MAX_CHARACTERS);
    return response.status < 400 ? { content } : failed(`The server answered ${response.status}.\n${content}`);
  } catch (error) {
    if (error instanceof OutboundError) return failed(error.message);
    throw error;
  }
}
