import type { Server as HttpServer, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import type { Linked } from '../linked.ts';
import type { Settings } from '../settings.ts';
import { isIdle, type Connections } from './connections.ts';

const LOOK_MS = 25;

/** How long a proxy may go on to use connections that it has: a request may be on its way on any of them. */
const PROXY_MS = 1_000;

/**
 * Takes nobody new, and lets what is under way come to its end, for as long as the settings say. Who only listens is sent away at
 * once: a page that waits for news, which asks again and is answered by another process. Behind a proxy a connection on
 * which nothing happens is not cut at once: what was just sent on it would fail there, because nobody may send it twice.
 */
export async function drain(
  server: HttpServer,
  connections: Connections,
  { STOP_WAIT_SECONDS, TRUST_PROXY }: Settings,
): Promise<void> {
  const ms = STOP_WAIT_SECONDS * 1000;
  // Those whom the system has taken for us already come in first: they would be cut with the door.
  await turn();
  await turn();
  // Of the socket alone: an HTTP server that is closed cuts whoever is idle.
  if (server.listening) NetServer.prototype.close.call(server);
  for (const { response, socket } of connections.all()) if (response && isListening(response)) socket.destroy();
  const began = performance.now();
  for (;;) {
    const left = connections.all();
    const atWork = left.filter((connection) => !isIdle(connection) && !connection.upgraded);
    const isLate = performance.now() - began >= (TRUST_PROXY > 0 ? Math.min(PROXY_MS, ms) : 0);
    if (isLate) for (const connection of left) if (isIdle(connection)) connection.socket.destroy();
    const waits = isLate ? atWork.length > 0 : left.some(({ upgraded }) => !upgraded);
    if (!waits || performance.now() - began >= ms) break;
    // Its next request belongs elsewhere.
    for (const { response } of atWork) if (response?.headersSent === false) response.setHeader('connection', 'close');
    await delay(LOOK_MS);
  }
  server.close();
}

/** A stream of events that answers a question has an end; one that was asked for with GET has none. */
export const isListening = ({ req }: ServerResponse): boolean =>
  req.method === 'GET' && req.headers.accept?.includes('text/event-stream') === true;

const LAST_WORDS_MS = 500;

/** Those who are told to give up get a moment to say so: closing cuts every connection. */
export async function tellClosing(listeners: Linked<() => void>): Promise<void> {
  for (const abort of listeners.values()) abort();
  const last = performance.now() + LAST_WORDS_MS;
  while (listeners.size > 0 && performance.now() < last) await delay(5);
}
