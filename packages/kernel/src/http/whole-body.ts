import { errorCodes, type FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { Gathered } from '../pieces.ts';

type Done = (error: Error | null, body?: Buffer) => void;

/**
 * Reads a file that is sent. Where its length is said, into one place from the beginning: whoever gathers pieces and puts them together
 * at the end has it twice, and the files of a few who come together are what fills the memory.
 */
export function readWhole({ headers, routeOptions }: FastifyRequest, payload: IncomingMessage, done: Done): void {
  const most = routeOptions.bodyLimit ?? 0;
  const length = headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
  if (length !== undefined && length > most) return done(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
  const place = length === undefined ? undefined : Buffer.allocUnsafeSlow(length);
  const gathered = new Gathered();
  let received = 0;

  function finish(error: Error | null): void {
    payload.off('data', take).off('end', end).off('error', broken);
    if (error) done(error);
    else done(null, place ?? gathered.take());
  }
  function take(piece: Buffer): void {
    received += piece.length;
    if (received > (length ?? most)) return finish(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
    if (place) place.set(piece, received - piece.length);
    else gathered.add(piece);
  }
  const end = (): void =>
    finish(length === undefined || received === length ? null : new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH());
  const broken = (error: Error): void => finish(Object.assign(error, { statusCode: 400 }));
  payload.on('data', take).on('end', end).on('error', broken);
  payload.resume();
}
