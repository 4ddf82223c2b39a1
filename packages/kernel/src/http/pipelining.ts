import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Requests that come on one connection before the first is answered are all begun at once, and two thousand of them fit
 * into one piece of the network: whoever sends them holds up everybody until the last was looked at. No browser does that.
 */
const MOST_UNANSWERED = 8;

/** What Node's parser takes for: what follows is no HTTP, and not to be read. */
const READ_NO_FURTHER = 2;

const UNANSWERED = Symbol('the answers that a connection waits for');

/** As Node has it; nobody promises it, so without it a connection is only cut. */
interface Parser {
  onIncoming?: ((request: IncomingMessage, keepAlive: boolean) => number) | null;
}
type Connected = Socket & { parser?: Parser | null; [UNANSWERED]?: ServerResponse[] };

const isOver = ({ writableFinished, destroyed }: ServerResponse): boolean => writableFinished || destroyed;

/** Answers go out in their order: the first that is not over is the oldest. */
function unansweredOf(socket: Connected): ServerResponse[] {
  const waiting = (socket[UNANSWERED] ??= []);
  while (waiting[0] && isOver(waiting[0])) waiting.shift();
  return waiting;
}

/** Ends a connection that sends further requests without waiting; the rest of what came is not even read. */
export function boundPipelining(server: HttpServer): void {
  server.on('connection', (socket: Connected) => {
    const { parser } = socket;
    const begin = parser?.onIncoming;
    if (!parser || typeof begin !== 'function') return;
    parser.onIncoming = (request, keepAlive) => {
      if (unansweredOf(socket).length < MOST_UNANSWERED) return begin(request, keepAlive);
      socket.destroy();
      return READ_NO_FURTHER;
    };
  });
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const waiting = unansweredOf(request.socket);
    waiting.push(response);
    if (waiting.length > MOST_UNANSWERED) request.socket.destroy();
  });
}
