import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { longHost } from '@troupe/testing/attacks/long-host';

/** An MCP service that names an address of a very long host, in the way that its own address says. In a thread of its own. */

const HOST = longHost(5_000);
const HOSTS = Array.from({ length: 12 }, () => HOST);

const RESULTS: Readonly<Record<string, (params: { protocolVersion?: string }) => object>> = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'x', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'go', inputSchema: { type: 'object' } }] }),
};

const line = (message: object): string => `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;

/** Asks the person to open a page; by a question, or as what a call needs first. */
function call(kind: string, id: number, response: ServerResponse): void {
  const page = { mode: 'url', message: 'Sign in', url: HOST, elicitationId: '1' };
  if (kind === 'needs')
    return void response.end(
      line({ id, error: { code: -32_042, message: 'first', data: { elicitations: [page, page, page] } } }),
    );
  for (let n = 0; n < 10; n += 1) response.write(line({ id: 100 + n, method: 'elicitation/create', params: page }));
  setTimeout(() => response.end(line({ id, result: { content: [{ type: 'text', text: 'asked' }] } })), 500);
}

function answer(kind: string, body: string, response: ServerResponse): void {
  const { id, method, params } = JSON.parse(body || '{}') as { id?: number; method?: string; params?: object };
  if (id === undefined || method === undefined) return void response.writeHead(202).end();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (method === 'tools/call') return call(kind, id, response);
  response.end(line({ id, result: RESULTS[method]?.(params ?? {}) ?? {} }));
}

const server = createServer((request: IncomingMessage, response) => {
  response.on('error', () => {});
  const { url = '', method } = request;
  const kind = url.split('/')[1] ?? '';
  // Who describes itself at length, wherever it is asked.
  if (url.includes('.well-known')) {
    const about = { resource: HOST, authorization_servers: HOSTS, issuer: HOST, authorization_endpoint: HOST };
    return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(about));
  }
  if (kind === 'oauth') return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
  if (kind === 'endpoint') {
    if (method !== 'GET') return void response.writeHead(405).end();
    return void response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .write(`event: endpoint\r\ndata: ${HOST}\r\n\r\n`);
  }
  if (method !== 'POST') return void response.writeHead(405).end();
  let body = '';
  request.on('data', (piece: Buffer) => (body += piece.toString()));
  request.on('end', () => answer(kind, body, response));
});
server.listen(0, '127.0.0.1', () => parentPort!.postMessage((server.address() as AddressInfo).port));
