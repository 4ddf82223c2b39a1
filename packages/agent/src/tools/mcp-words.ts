import type { Client } from '@modelcontextprotocol/client';
import type { McpServer } from '@troupe/domain';
import { currentTrace, OutboundError, traceparentOf } from '@troupe/kernel';
import { statusOf } from './mcp-http.ts';
import { sizeOf } from './mcp-listing.ts';
import type { ToolContext, ToolResult } from './tool.ts';

/** What goes between an MCP server and a model or an owner, in words. */

type Offered = Awaited<ReturnType<Client['listTools']>>['tools'][number];

/** For the library; a call that waits for a person waits longer than any other. */
const LONGEST_MS = 86_400_000;
const MAX_NAME = 64;
const MAX_RESULT = { characters: 1024 * 1024, depth: 64 };
const MAX_REASON = 600;

export const nameOf = (server: McpServer, tool: string): string =>
  `${server.name}_${tool}`.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_NAME);

/** The server has forgotten the session, as after a restart, and has not looked at the call: a new one may make it. */
export const isSessionGone = (error: unknown): boolean => statusOf(error) === 404;

const causes = (error: unknown): Error[] => (error instanceof Error ? [error, ...causes(error.cause)] : []);

/** Why a server cannot be used, for its owner and for the model. */
export function reasonOf(error: unknown): { state: 'failed' | 'consent'; error: string } {
  const chain = causes(error);
  const outbound = chain.find((one) => one instanceof OutboundError);
  if (outbound?.kind === 'blocked')
    return failure(
      'its address is in a private network; the operator can name its host in AGENT_PRIVATE_HOSTS to allow it',
    );
  if (outbound) return failure(outbound.message.replace(/^Target/, 'the server'));
  if (chain.some(({ name }) => name === 'UnauthorizedError') || statusOf(error) === 401)
    return { state: 'consent', error: 'it asks for authorization: connect it on the agent’s page' };
  if (chain.some(({ message }) => /timed? ?out/i.test(message))) return failure('it did not answer in time');
  return failure(chain[0]?.message ?? 'it does not answer');
}

const failure = (error: string) => ({
  state: 'failed' as const,
  error: error.replaceAll(/[^\P{Cc}\n]/gu, ' ').slice(0, MAX_REASON),
});

export async function callTool(
  client: Client,
  tool: Offered,
  args: unknown,
  { signal }: Pick<ToolContext, 'signal'>,
): Promise<ToolResult> {
  const trace = currentTrace();
  const _meta = trace && { traceparent: traceparentOf(trace) };
  const result = await client.callTool(
    { name: tool.name, arguments: args as Record<string, unknown>, ...(_meta && { _meta }) },
    { signal, timeout: LONGEST_MS, toolDefinition: tool },
  );
  if (sizeOf(result, MAX_RESULT) === undefined) throw new Error('The server’s answer is too large.');
  const items = (result.content ?? []) as Item[];
  const structured = items.length === 0 && result.structuredContent;
  const content = structured ? JSON.stringify(structured) : items.map(textOf).join('\n');
  return { content: content || '(no output)', ...(result.isError === true && { isError: true }) };
}

interface Item {
  type: string;
  text?: string;
  uri?: string;
  resource?: { uri?: string; text?: string };
}

const textOf = ({ type, text, uri, resource }: Item): string =>
  text ?? resource?.text ?? `[${[type, uri ?? resource?.uri].filter(Boolean).join(' ')}]`;
