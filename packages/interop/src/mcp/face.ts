import type { McpHttpHandler, McpServer, ServerContext } from '@modelcontextprotocol/server';
import { McpRefusal, type McpCall, type McpTool } from './tool.ts';

/**
 * An MCP endpoint over HTTP, for both revisions: 2026-07-28, and those before it, without sessions. Who calls, and what
 * for, was found out before; nothing is kept between two requests.
 */

export interface McpFace<Caller> {
  /** Answers one request; `body` is what came as JSON. */
  answer: (request: McpRequest<Caller>) => Promise<Response>;
  close: () => Promise<void>;
}

export interface McpRequest<Caller> {
  method: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: unknown;
  caller: Caller;
  signal: AbortSignal;
}

export interface McpFaceOptions<Caller> {
  name: string;
  title: string;
  version: string;
  instructions: (caller: Caller) => string | Promise<string>;
  tools: readonly McpTool<Caller>[];
  /** What a tool threw that the caller is not told. */
  onError: (error: unknown) => void;
}

/** Streams that only wait for news, which there are none of. Doors let each person have a few; this is for all together. */
const MOST_WAITING = 10_000;
const KEEP_ALIVE_MS = 15_000;
/** The list of tools changes with a release. */
const LIST_LIFE_MS = 300_000;

export async function createMcpFace<Caller>(options: McpFaceOptions<Caller>): Promise<McpFace<Caller>> {
  // Loaded with the first request: an idle platform has none of it in memory.
  const { createMcpHandler, McpServer: Sdk } = await import('@modelcontextprotocol/server');
  const { name, title, version, tools } = options;
  const hint = { ttlMs: LIST_LIFE_MS, cacheScope: 'private' as const };
  const make = async (caller: Caller): Promise<McpServer> => {
    const server = new Sdk(
      { name, title, version },
      {
        capabilities: { tools: {} },
        instructions: await options.instructions(caller),
        cacheHints: { 'tools/list': hint, 'server/discover': hint },
      },
    );
    for (const tool of tools) addTool(server, tool, caller, options.onError);
    return server;
  };
  return faceOf(
    createMcpHandler(({ authInfo }) => make(authInfo?.extra?.['caller'] as Caller), {
      legacy: 'stateless',
      responseMode: 'sse',
      keepAliveMs: KEEP_ALIVE_MS,
      maxSubscriptions: MOST_WAITING,
    }),
  );
}

/** The same around a handler that was made elsewhere. */
export const faceOf = <Caller>(handler: McpHttpHandler): McpFace<Caller> => ({
  answer: ({ method, headers, body, caller, signal }) =>
    handler.fetch(
      new Request('http://mcp.local/mcp', {
        method,
        headers: Object.entries(headers).flatMap(([key, value]): [string, string][] =>
          value === undefined || UNTOLD.has(key) ? [] : [[key, Array.isArray(value) ? value.join(', ') : value]],
        ),
        signal,
        ...(method === 'POST' && { body: JSON.stringify(body) }),
      }),
      {
        authInfo: { token: '', clientId: '', scopes: [], extra: { caller } },
        ...(method === 'POST' && { parsedBody: body }),
      },
    ),
  close: () => handler.close(),
});

/** Of the connection, or secrets: the library needs none of them. */
const UNTOLD = new Set(
  'authorization connection content-length cookie host keep-alive transfer-encoding upgrade x-api-key'.split(' '),
);

function addTool<Caller>(
  server: McpServer,
  { name, title, description, args, readOnly = false, destructive = false, run }: McpTool<Caller>,
  caller: Caller,
  onError: (error: unknown) => void,
): void {
  server.registerTool(
    name,
    {
      title,
      description,
      inputSchema: args,
      annotations: { title, readOnlyHint: readOnly, destructiveHint: destructive, openWorldHint: false },
    },
    async (given: unknown, context: ServerContext) => {
      const { signal, _meta: meta } = context.mcpReq;
      const call: McpCall<Caller> = { caller, signal, traceparent: meta?.['traceparent'] };
      try {
        const { text, data, isError } = await run(given as never, call);
        return {
          content: [{ type: 'text' as const, text }],
          ...(data && { structuredContent: data }),
          ...(isError === true && { isError }),
        };
      } catch (error) {
        if (!(error instanceof McpRefusal)) onError(error);
        const text = error instanceof McpRefusal ? error.message : 'Internal server error';
        return { content: [{ type: 'text' as const, text }], isError: true };
      }
    },
  );
}
