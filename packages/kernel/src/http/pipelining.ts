import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Requests that come on one connection before the first is answered are all begun at once, and two thousand of them fit
 * into one piece of the network: whoever sends them holds up everybody until the last was looked at. No browser does that.
 */
const MOST_UNANSWERED = 8;

/** What Node's parser takes for: what follows is no HTTP, and not to be read. */
const READ_NO_FURTHER = 2;

const UNANSWERED = Symbol('how many answers a connection waits for');

/** As Node has it; nobody promises it, so without it a connection is only cut. */
interface Parser {
  onIncoming?: ((request: IncomingMessage, keepAlive: boolean) => number) | null;
}
type Connected = Socket & { parser?: Parser | null; [UNANSWERED]?: number };

const CONNECTED = Symbol('the connection that an answer goes to');
type Answer = ServerResponse & { [CONNECTED]?: Connected };

/**
 * One function for all, and a number instead of the answers: they would be kept for as long as a connection rests. The
 * request itself may have lost its socket by then.
 */
function answered(this: Answer): void {
  const socket = this[CONNECTED];
  if (socket) socket[UNANSWERED] = (socket[UNANSWERED] ?? 1) - 1;
}

/** Ends a connection that sends further requests without waiting; the rest of what came is not even read. */
export function boundPipelining(server: HttpServer): void {
  server.on('connection', (socket: Connected) => {
    const { parser } = socket;
    const begin = parser?.onIncoming;
    if (!parser || typeof begin !== 'function') return;
    parser.onIncoming = (request, keepAlive) => {
      if ((socket[UNANSWERED] ?? 0) < MOST_UNANSWERED) return begin(request, keepAlive);
      socket.destroy();
      return READ_NO_FURTHER;
    };
  });
  server.prependListener('request', (request: IncomingMessage, response: Answer) => {
    const socket: Connected = request.socket;
    const waiting = (socket[UNANSWERED] ?? 0) + 1;
    socket[UNANSWERED] = waiting;
    response[CONNECTED] = socket;
    response.on('close', answered);
    if (waiting > MOST_UNANSWERED) socket.destroy();
  });
}
