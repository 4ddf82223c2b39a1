import type { Server as HttpServer, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { isIdle, type Connections } from './connections.ts';

const LOOK_MS = 25;

/**
 * Takes nobody new, and lets what is under way come to its end, for so long at most. Who only listens is sent away at
 * once: a page that waits for news, which asks again and is answered by another process.
 */
export async function drain(server: HttpServer, connections: Connections, ms: number): Promise<void> {
  if (server.listening) server.close();
  for (const { response, socket } of connections.all()) if (response && isListening(response)) socket.destroy();
  const until = performance.now() + ms;
  for (;;) {
    const atWork = connections.all().filter((connection) => !isIdle(connection) && !connection.upgraded);
    for (const connection of connections.all()) if (isIdle(connection)) connection.socket.destroy();
    if (atWork.length === 0 || performance.now() >= until) return;
    // Its next request belongs elsewhere.
    for (const { response } of atWork) if (response?.headersSent === false) response.setHeader('connection', 'close');
    await delay(LOOK_MS);
  }
}

/** A stream of events that answers a question has an end; one that was asked for with GET has none. */
export const isListening = ({ req }: ServerResponse): boolean =>
  req.method === 'GET' && req.headers.accept?.includes('text/event-stream') === true;
