import { IncomingMessage, type Server as HttpServer } from 'node:http';
import { createPieceCount, type PieceBounds } from '../pieces.ts';

/** Anybody may send these, many at once, and each is kept as it came until the last is here. No client sends a word at a time. */
const FROM_CLIENTS: PieceBounds = { free: 1000, least: 128 };

/** What a client that does so is told. */
export const SMALL_PIECES = 'SMALL_PIECES';

/** As Node has it: what its parser calls with each piece of a body. Nobody promises it; without it the rest is read in vain. */
const ON_BODY = 3;
type Parser = Record<number, unknown>;

/** The rest of what has come already is not told to anybody. */
function skipRest({ socket }: IncomingMessage): void {
  const { parser } = socket as { parser?: Parser | null };
  const tell = parser?.[ON_BODY];
  if (!parser || typeof tell !== 'function' || tell.name !== 'parserOnBody') return;
  parser[ON_BODY] = undefined;
  // Another connection has it next.
  setImmediate(() => (parser[ON_BODY] = tell));
}

const isChunked = ({ headers }: IncomingMessage): boolean => headers['transfer-encoding'] !== undefined;

/**
 * Looks at the pieces of a message as they are read, before anybody is told of them; `tooMany` is called once, and nothing more of it
 * is read. Only what comes in chunks can be so many: of all else the network makes the pieces.
 */
export function countPieces(message: IncomingMessage, tooMany: () => void, bounds?: PieceBounds): void {
  if (!isChunked(message)) return;
  const count = createPieceCount(bounds);
  let isOver = false;
  message.push = (piece: Buffer | null, encoding) => {
    if (isOver) return false;
    if (piece === null || count(piece.length)) return IncomingMessage.prototype.push.call(message, piece, encoding);
    isOver = true;
    skipRest(message);
    tooMany();
    return false;
  };
}

/** Ends a connection on which a body comes in too many small pieces. */
export function boundPieces(server: HttpServer): void {
  server.prependListener('request', (request, response) => {
    // Asked with every request.
    if (!isChunked(request)) return;
    const end = (): void => {
      const { socket } = request;
      const error = Object.assign(new Error('a body came in too many small pieces'), { code: SMALL_PIECES });
      if (response.headersSent || !server.emit('clientError', error, socket)) socket.destroy();
    };
    countPieces(request, end, FROM_CLIENTS);
  });
}
