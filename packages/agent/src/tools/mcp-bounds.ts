import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { MAX_SCHEMA, sizeOf } from './mcp-listing.ts';

/**
 * The library walks every schema of every tool that a server lists, on the loop and by recursion. What is too large or too
 * deep is taken out of a message before the library sees it.
 */

const MOST_LISTED = 1_000;

interface Listed {
  inputSchema?: unknown;
  outputSchema?: unknown;
}

const isBearable = (tool: Listed | null): boolean =>
  typeof tool === 'object' &&
  tool !== null &&
  [tool.inputSchema, tool.outputSchema].every((schema) => sizeOf(schema ?? null, MAX_SCHEMA) !== undefined);

function bearable(message: JSONRPCMessage, leftOut: (count: number) => void): JSONRPCMessage {
  const { result } = message as { result?: { tools?: unknown } };
  if (typeof result !== 'object' || result === null || !Array.isArray(result.tools)) return message;
  const given = result.tools as (Listed | null)[];
  const tools = given.slice(0, MOST_LISTED).filter(isBearable);
  if (tools.length === given.length) return message;
  leftOut(given.length - tools.length);
  return { ...message, result: { ...result, tools } } as JSONRPCMessage;
}

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
