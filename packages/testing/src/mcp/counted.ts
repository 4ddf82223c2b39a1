import http from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createMcpHandler,
  McpServer,
  type CallToolResult,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';

export { acceptedContent, inputRequired } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** An MCP server of a few tools, opened by a key, that tells which of them were called. */

type Listener = (request: http.IncomingMessage, response: http.ServerResponse) => void | Promise<void>;

export async function listen(listener: Listener) {
  const server = http.createServer((request, response) => void listener(request, response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, close: () => server.close().closeAllConnections() };
}

interface McpTool {
  description?: string;
  /** Its words, or what it answers in their place. */
  run: (args: Record<string, unknown>, context: ServerContext) => string | CallToolResult | InputRequiredResult;
}

export async function startMcp(key: string, tools: () => Record<string, McpTool>) {
  const called: string[] = [];
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'server', version: '1.0.0' }, { capabilities: { tools: {} } });
    for (const [name, { description = `Does ${name}.`, run }] of Object.entries(tools()))
      server.registerTool(name, { description, inputSchema: z.looseObject({}) }, (args, context) => {
        called.push(name);
        const said = run(args, context);
        return typeof said === 'string' ? { content: [{ type: 'text' as const, text: said }] } : said;
      });
    return server;
  });
  const { port, close } = await listen(async (request, response) => {
    if (request.headers['x-key'] !== key) return void response.writeHead(403).end();
    const body = Buffer.concat(await request.toArray());
    const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]);
    const { method = 'GET', url = '/' } = request;
    const answer = await handler.fetch(
      new Request(`http://x${url}`, { method, headers, ...(body.length > 0 && { body }) }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  });
  return { called, url: `http://127.0.0.1:${port}/mcp`, host: `127.0.0.1:${port}`, close };
}
