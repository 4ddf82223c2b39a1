import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';

/** Bodies that are larger than others may be are held in memory: for each caller a few at once, and for all a bound. */
const PER_CALLER = 4;
const TOGETHER = 24;
const SMALL = 1_048_576;

const RETRY = { headers: { 'retry-after': '1' } };

export type LargeBodies = (bytes: number, reply: FastifyReply, whom: string) => void;

/** Infinite where it is not said. */
export function bytesOf({ headers }: Pick<FastifyRequest, 'headers'>): number {
  const length = headers['content-length'];
  if (length !== undefined) return Number(length);
  return headers['transfer-encoding'] === undefined ? 0 : Infinity;
}

/** Takes a place until the answer is over, if so many bytes are large. */
export function createLargeBodies(): LargeBodies {
  const held = new Map<string, number>();
  let together = 0;
  return (bytes, reply, whom) => {
    if (bytes <= SMALL) return;
    const own = held.get(whom) ?? 0;
    if (own >= PER_CALLER)
      throw new AppError(429, `At most ${PER_CALLER} requests of more than 1 MB at a time`, {}, RETRY);
    if (together >= TOGETHER) throw new AppError(503, 'The service is busy. Try again in a moment.', {}, RETRY);
    held.set(whom, own + 1);
    together += 1;
    reply.raw.once('close', () => {
      together -= 1;
      const left = held.get(whom)! - 1;
      if (left > 0) held.set(whom, left);
      else held.delete(whom);
    });
  };
}
