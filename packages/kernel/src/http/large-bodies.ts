import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';

/** Bodies are held in memory until they are complete, and that may take half a minute: of each size so many at once. */
interface Size {
  above: number;
  name: string;
  perCaller: number;
  together: number;
}

/** The largest first. Small ones are bounded by connections alone. */
const SIZES: readonly Size[] = [
  { above: 1_048_576, name: '1 MB', perCaller: 4, together: 24 },
  { above: 65_536, name: '64 KB', perCaller: 32, together: 256 },
];

const RETRY = { headers: { 'retry-after': '1' } };

type Answered = Pick<FastifyReply, 'raw'>;
export type LargeBodies = (bytes: number, reply: Answered, whom: string) => void;

/** So many as may come, where it is not said. */
export function bytesOf({ headers }: Pick<FastifyRequest, 'headers'>, most: number): number {
  const length = headers['content-length'];
  if (length !== undefined) return Number(length);
  return headers['transfer-encoding'] === undefined ? 0 : most;
}

/** Takes a place until the answer is over. Nobody has more of them than are left for others. */
function createRoom({ name, perCaller, together: most }: Size) {
  const held = new Map<string, number>();
  let together = 0;
  return (reply: Answered, whom: string): void => {
    const own = held.get(whom) ?? 0;
    if (own >= perCaller)
      throw new AppError(429, `At most ${perCaller} requests of more than ${name} at a time`, {}, RETRY);
    if (own >= most - together) throw new AppError(503, 'The service is busy. Try again in a moment.', {}, RETRY);
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

export function createLargeBodies(): LargeBodies {
  const rooms = SIZES.map((size) => ({ above: size.above, enter: createRoom(size) }));
  return (bytes, reply, whom) => rooms.find(({ above }) => bytes > above)?.enter(reply, whom);
}
