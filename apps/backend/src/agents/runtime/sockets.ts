import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError } from '@troupe/kernel';

/** Of all agents of a user together, in this process. */
const PER_USER = 100;

/** How many WebSockets each user has open. */
export function createSocketCount() {
  const open = new Map<string, number>();
  return {
    /** Counts it until it closes; throws 429 when it is one too many. */
    take(userId: string, socket: Duplex): void {
      const count = open.get(userId) ?? 0;
      if (count >= PER_USER) throw new AppError(429, `A user has ${PER_USER} open connections at most`);
      open.set(userId, count + 1);
      socket.once('close', () => {
        const still = (open.get(userId) ?? 1) - 1;
        if (still > 0) open.set(userId, still);
        else open.delete(userId);
      });
    },
  };
}

/** The client's address behind so many proxies of ours, as for every other request. */
export function socketAddress({ socket, headers }: IncomingMessage, proxies: number): string {
  const told = headers['x-forwarded-for'];
  const chain = (Array.isArray(told) ? told.join(',') : (told ?? ''))
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const hops = [socket.remoteAddress ?? '', ...chain.toReversed()];
  return hops[Math.min(proxies, hops.length - 1)] ?? '';
}
