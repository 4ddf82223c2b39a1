import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';

/** An MCP service that answers as its address says. In a thread: what it does must not slow down who measures. */

const BRACKETS = '[],'.repeat(660_000);
const PARTS = '{"type":"text","text":""},'.repeat(75_000);

const RESULTS: Readonly<Record<string, (params: { protocolVersion?: string }) => string>> = {
  initialize: ({ protocolVersion }) =>
    JSON.stringify({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }),
  'tools/list': () => JSON.stringify({ tools: [{ name: 'go', inputSchema: { type: 'object' } }] }),
};

/** Many lines, and one end of another kind behind them. */
const LINES = Buffer.from(`${'a\n'.repeat(32_760)}\r`);

async function lineEnds(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let n = 0; n < 30 && !response.destroyed; n += 1) {
    response.write(LINES);
    await delay(20);
  }
}

function answer(kind: string, body: string, response: ServerResponse): void {
  const { id, method, params } = JSON.parse(body || '{}') as { id?: number; method?: string; params?: object };
  if (id === undefined) return void response.writeHead(202).end();
  if (kind === 'lines') return void lineEnds(response);
  const huge =
    kind === 'parts' ? `{"content":[${PARTS}{"type":"text","text":"end"}]}` : `{"content":[],"x":[${BRACKETS}1]}`;
  const result = method === 'tools/call' ? huge : (RESULTS[method ?? '']?.(params ?? {}) ?? '{}');
  const said = `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
  const isStream = kind === 'stream';
  response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
  response.end(isStream ? `event: message\ndata: ${said}\n\n` : said);
}

const server = createServer((request: IncomingMessage, response) => {
  response.on('error', () => {});
  if (request.method !== 'POST') return void response.writeHead(405).end();
  let body = '';
  request.on('data', (piece: Buffer) => (body += piece.toString()));
  request.on('end', () => answer((request.url ?? '').split('/')[1] ?? '', body, response));
});
server.listen(0, '127.0.0.1', () => parentPort!.postMessage((server.address() as AddressInfo).port));
