import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A provider for tests and benches: real HTTP on a free port, answering (or misbehaving) as it is told. */
export interface StandIn {
  url: string;
  requests: StandInRequest[];
  /** Sockets that are open now. */
  sockets: () => number;
  answer: (handler: StandInHandler) => void;
  close: () => Promise<void>;
}

export interface StandInRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
  /** Resolves when the client goes before the answer is complete. */
  aborted: Promise<void>;
}

export type StandInHandler = (request: StandInRequest, response: ServerResponse) => void | Promise<void>;

export async function createStandIn(
  handler: StandInHandler = (request, response) => replyChat(request, response),
): Promise<StandIn> {
  let current = handler;
  const requests: StandInRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((incoming, response) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      const text = Buffer.concat(parts).toString('utf8');
      const request: StandInRequest = {
        method: incoming.method ?? '',
        path: incoming.url ?? '',
        headers: incoming.headers,
        body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
        aborted: new Promise((resolve) => {
          response.once('close', () => {
            if (!response.writableFinished) resolve();
          });
        }),
      };
      requests.push(request);
      void current(request, response);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    sockets: () => sockets.size,
    answer: (next) => {
      current = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function replyJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

export interface Said {
  content?: string | null;
  toolCalls?: { id: string; name: string; arguments: string }[];
  usage?: { prompt_tokens: number; completion_tokens: number } | null;
}

const DEFAULT_USAGE = { prompt_tokens: 12, completion_tokens: 7 };

/** A correct answer in OpenAI's format, streamed when the request asks for that. Other paths list one model. */
export function replyChat({ path, body }: StandInRequest, response: ServerResponse, said: Said = {}): void {
  if (!path.endsWith('/chat/completions')) return replyJson(response, { data: [{ id: 'listed-model' }] });
  const { content = 'Hello from the provider.', toolCalls, usage = DEFAULT_USAGE } = said;
  const calls = toolCalls?.map(({ id, ...call }, index) => ({ index, id, type: 'function', function: call }));
  const reason = calls ? 'tool_calls' : 'stop';
  const counted = usage && { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens };
  if (body['stream'] !== true) {
    const message = { role: 'assistant', content, ...(calls ? { tool_calls: calls } : {}) };
    return replyJson(response, {
      id: 'upstream-1',
      object: 'chat.completion',
      model: body['model'],
      choices: [{ index: 0, message, finish_reason: reason }],
      ...(counted ? { usage: counted } : {}),
    });
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = (delta: object, finish: string | null = null): void => {
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
  };
  chunk({ role: 'assistant', content: '' });
  for (const word of (content ?? '').split(/(?<= )/)) chunk({ content: word });
  if (calls) chunk({ tool_calls: calls });
  chunk({}, reason);
  if (counted) response.write(`data: ${JSON.stringify({ choices: [], usage: counted })}\n\n`);
  response.end('data: [DONE]\n\n');
}
