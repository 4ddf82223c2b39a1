import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { busy } from '../fair.ts';
import { isListening } from './drain.ts';
import { createLateness } from './lateness.ts';
import { DATA_HEADERS } from './security-headers.ts';

/** What is answered however much there is to do. */
export const ALWAYS = new Set(['/health', '/ready', '/metrics']);
/** With so much under way, and a loop that is late, nobody who has something under way gets in with more. */
const MUCH = 200;
/** Two who share one of these share their turn for as long as there is too much to do. */
const SLOTS = 16_384;
/** Of what somebody shows: its end differs from anybody else's. */
const SHOWN = 64;

function mixed(hash: number, shown: string | string[] | undefined): number {
  if (typeof shown !== 'string') return hash;
  let mix = hash;
  for (let at = Math.max(0, shown.length - SHOWN); at < shown.length; at += 1)
    mix = (Math.imul(mix, 31) + shown.charCodeAt(at)) | 0;
  return mix;
}

/** By what is shown, before anybody looks whether it counts. */
function slotOf({ headers, ip }: FastifyRequest): number {
  const { cookie, authorization, 'x-user-id': user } = headers;
  const shown = mixed(mixed(mixed(0, cookie), authorization), user);
  return ((shown === 0 ? mixed(0, ip) : shown) >>> 0) % SLOTS;
}

/** One for all: of thousands a second none needs to know where it was made. */
const BUSY = busy();
const TEXT = JSON.stringify(BUSY.body);
const HEAD = {
  ...DATA_HEADERS,
  ...BUSY.headers,
  'content-type': 'application/json; charset=utf-8',
  'content-length': Buffer.byteLength(TEXT),
};

/** To refuse must cost less than to serve: where nothing is special about the answer, it is written as it is. */
function refuse(request: FastifyRequest, reply: FastifyReply, done: (error: Error) => void): void {
  const { errorShape, errorFields } = request.routeOptions.config;
  if (errorShape ?? errorFields ?? request.headers.origin) return done(BUSY);
  reply.hijack();
  reply.raw.writeHead(BUSY.status, HEAD).end(TEXT);
}

/**
 * While more comes than the loop can do, whoever has something under way is told to come again before it is looked at: to
 * find out who somebody is takes the database, and what waits only makes all others wait longer. A first question of
 * anybody is heard. Streams that only listen are no work.
 */
export function addShedding(app: FastifyInstance): void {
  const isLate = createLateness();
  const underWay = new Uint16Array(SLOTS);
  let total = 0;
  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = reply;
    if (isListening(raw) || ALWAYS.has(request.routeOptions.url ?? '')) return done();
    const slot = slotOf(request);
    if (total >= MUCH && underWay[slot]! > 0 && isLate()) return refuse(request, reply, done);
    total += 1;
    underWay[slot]! += 1;
    raw.once('close', () => {
      total -= 1;
      underWay[slot]! -= 1;
    });
    done();
  });
}
