import type { Server as HttpServer, ServerResponse } from 'node:http';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import type { Linked } from '../linked.ts';
import type { Settings } from '../settings.ts';
import { isIdle, type Connection, type Connections } from './connections.ts';
import { closeDoors } from './listening.ts';

const LOOK_MS = 25;

/** How long a proxy may go on to use a connection on which nothing happens: a request may be on its way on any of them. */
const PROXY_MS = 1_000;

/** A turn of the loop that is over so soon had nothing to do for anybody. */
const QUIET_MS = 1;
const MOST_TURNS = 50;

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
  const patience = TRUST_PROXY > 0 ? Math.min(PROXY_MS, ms) : 0;
  // Those whom the system has taken for us already come in first: they would be cut with the door.
  await allRead();
  closeDoors(server);
  for (const { response, socket } of connections.all()) if (response && isListening(response)) socket.destroy();
  const idleSince = new Map<Connection, number>();
  for (const began = performance.now(); ; await delay(LOOK_MS)) {
    // On a connection that looks idle something may have arrived while others were worked for.
    await allRead();
    const left = connections.all().filter(({ upgraded, socket }) => !upgraded && !socket.destroyed);
    const staying = left.filter((connection) => stays(connection, idleSince, patience));
    if (staying.length === 0 || performance.now() - began >= ms) break;
  }
  server.close();
}

/** Cuts one on which nothing has happened for long enough; of one that is at work, the next request belongs elsewhere. */
function stays(connection: Connection, idleSince: Map<Connection, number>, patience: number): boolean {
  const { response, socket } = connection;
  if (!isIdle(connection)) {
    idleSince.delete(connection);
    if (response?.headersSent === false) response.setHeader('connection', 'close');
    return true;
  }
  const now = performance.now();
  const since = idleSince.get(connection) ?? now;
  idleSince.set(connection, since);
  // One that has just come to rest is the first that a proxy takes again.
  if (now - since < patience) return true;
  socket.destroy();
  return false;
}

/**
 * Lets in what the system has for us: connections, and what was sent on them. After a turn of the loop in which somebody was
 * worked for, more may have come meanwhile.
 */
async function allRead(): Promise<void> {
  for (let turns = 0, quiet = false; turns < MOST_TURNS && !quiet; turns += 1) {
    const began = performance.now();
    await turn();
    quiet = turns > 0 && performance.now() - began < QUIET_MS;
  }
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
