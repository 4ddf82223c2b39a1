import type { Client } from '@modelcontextprotocol/client';
import type { Log } from '@troupe/kernel';
import type { McpServer } from '@troupe/domain';

/** The tools that an MCP server offers, as far as they can be borne: it may say anything, for ever. */

type Offered = Awaited<ReturnType<Client['listTools']>>['tools'][number];

const LIST_MS = 30_000;
const PAGE_MS = 20_000;
/** Of one list; a server that has more is not used. */
export const MAX_PAGES = 20;
const MAX_TOOLS = 64;
export const MAX_SCHEMA = { characters: 32_768, depth: 32 };
/** Of all tools together: each of them goes to the model with every step. */
const MAX_CHARACTERS = 262_144;
const MAX_DESCRIPTION = 1_000;

export async function listTools(
  client: Client,
  server: McpServer,
  { signal, log }: { signal: AbortSignal; log: Log },
): Promise<Offered[]> {
  const found: Offered[] = [];
  const until = AbortSignal.any([signal, AbortSignal.timeout(LIST_MS)]);
  let left = MAX_CHARACTERS;
  const { tools } = await client.listTools(undefined, { timeout: PAGE_MS, signal: until });
  for (const one of tools) {
    if (server.tools !== undefined && !server.tools.includes(one.name)) continue;
    if (found.length >= MAX_TOOLS) {
      log.warn({ server: server.name }, 'MCP server lists more tools than are read');
      break;
    }
    const size = sizeOf(one.inputSchema, MAX_SCHEMA);
    left -= (size ?? 0) + Math.min(one.description?.length ?? 0, MAX_DESCRIPTION);
    if (size !== undefined && left >= 0) found.push(one);
    else
      log.warn(
        { server: server.name, tool: one.name.slice(0, 100) },
        'MCP tool left out: its description is too large',
      );
  }
  return found;
}

/** Whether the server lists its tools when it is asked now; who gives up waiting knows nothing. */
export async function stillAnswers(client: Client, signal: AbortSignal | undefined): Promise<boolean> {
  const until = AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(LIST_MS)]);
  try {
    await client.listTools(undefined, { timeout: PAGE_MS, signal: until, cacheMode: 'bypass' });
    return true;
  } catch {
    signal?.throwIfAborted();
    return false;
  }
}

/** Characters of a value as JSON, roughly; undefined when it has more, or is nested more deeply, than it may. */
export function sizeOf(value: unknown, most: { characters: number; depth: number }): number | undefined {
  let characters = 0;
  const waiting: [value: unknown, depth: number][] = [[value, 0]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [one, depth] = next;
    characters += typeof one === 'string' ? one.length + 2 : 4;
    if (characters > most.characters || depth > most.depth) return undefined;
    if (typeof one !== 'object' || one === null) continue;
    for (const [key, member] of Object.entries(one)) {
      characters += key.length;
      waiting.push([member, depth + 1]);
    }
  }
  return characters;
}
