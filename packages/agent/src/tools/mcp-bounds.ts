import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { ADDRESS_LENGTH } from '@troupe/domain';
import { MAX_SCHEMA, sizeOf } from './mcp-listing.ts';

/**
 * The library walks every schema of every tool that a server lists, on the loop and by recursion. What is too large or too
 * deep is taken out of a message before the library sees it.
 */

const MOST_LISTED = 1_000;
/** Parts of a result: the library checks each against every kind that there is. */
const MOST_CONTENT = 1_000;
/** Lists, objects and fields of one message. */
export const MAX_PARTS = 50_000;

interface Listed {
  inputSchema?: unknown;
  outputSchema?: unknown;
}

const isBearable = (tool: Listed | null): boolean =>
  typeof tool === 'object' &&
  tool !== null &&
  [tool.inputSchema, tool.outputSchema].every((schema) => sizeOf(schema ?? null, MAX_SCHEMA) !== undefined);

interface WithAddress {
  url?: unknown;
}

const isLong = (one: WithAddress | null | undefined): boolean =>
  typeof one?.url === 'string' && one.url.length > ADDRESS_LENGTH;

/** The library reads addresses as such, and to read a host takes the square of its length: what is none that anybody has goes. */
function withoutLongAddresses(message: JSONRPCMessage): JSONRPCMessage {
  const { params, error } = message as {
    params?: WithAddress | null;
    error?: { data?: { elicitations?: unknown } | null };
  };
  if (isLong(params)) return { ...message, params: { ...params, url: '' } } as JSONRPCMessage;
  const pages = error?.data?.elicitations;
  if (!Array.isArray(pages) || !pages.some(isLong)) return message;
  return { ...message, error: { ...error, data: { elicitations: [] } } } as JSONRPCMessage;
}

function bearable(given: JSONRPCMessage, leftOut: (count: number) => void): JSONRPCMessage {
  const message = withoutLongAddresses(given);
  const { result } = message as { result?: { tools?: unknown; content?: unknown } };
  if (typeof result !== 'object' || result === null) return message;
  if (Array.isArray(result.content) && result.content.length > MOST_CONTENT)
    return { ...message, result: { ...result, content: shortened(result.content) } } as JSONRPCMessage;
  if (!Array.isArray(result.tools)) return message;
  const listed = result.tools as (Listed | null)[];
  const tools = listed.slice(0, MOST_LISTED).filter(isBearable);
  if (tools.length === listed.length) return message;
  leftOut(listed.length - tools.length);
  return { ...message, result: { ...result, tools } } as JSONRPCMessage;
}

const shortened = (content: readonly unknown[]): unknown[] => [
  ...content.slice(0, MOST_CONTENT),
  { type: 'text', text: `[${content.length - MOST_CONTENT} more parts were cut off]` },
];

type Hears = NonNullable<Transport['onmessage']>;

/** Every message passes here on its way to whoever listens to the transport, now or later. */
export function bounded<T extends Transport>(transport: T, leftOut: (count: number) => void): T {
  let hears: Hears | undefined;
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    enumerable: true,
    get: () => hears,
    set(listener: Hears | undefined) {
      hears = listener && ((message, extra) => listener(bearable(message, leftOut), extra));
    },
  });
  return transport;
}
