import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { busy } from '../fair.ts';
import { createBeginnings } from './beginning.ts';
import { isListening } from './drain.ts';
import { createRoom, MUCH } from './room.ts';
import { DATA_HEADERS } from './security-headers.ts';

/** What is answered however much there is to do. */
export const ALWAYS = new Set(['/health', '/ready', '/metrics']);
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
function slotOf({ cookie, authorization, 'x-user-id': user }: IncomingHttpHeaders, ip: string): number {
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

/** A question that only the client's connection can tell from others, as strangers' are, is no such. */
const isShown = ({ cookie, authorization }: IncomingHttpHeaders): boolean => Boolean(cookie ?? authorization);

const routeOf = ({ method, url = '' }: IncomingMessage): string => {
  const query = url.indexOf('?');
  return `${method} ${query < 0 ? url : url.slice(0, query)}`;
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
 * anybody is heard, and whoever is alone holds up nobody. Streams that only listen are no work.
 */
export class Shedding {
  readonly #beginnings = createBeginnings();
  readonly #underWay = new Uint16Array(SLOTS);
  #total = 0;
  readonly #room = createRoom({ underWay: () => this.#total, waited: this.#beginnings.waited });
  /** Routes that refuse as all do, so that nobody needs to look which one it is. */
  readonly #plain = new Set<string>();
  /** Is told of each that was refused before it came to its route. */
  onRefused: (method: string, route: string, status: number) => void = () => {};

  /** Whether it was refused: half of what an answer costs is the way to its route. */
  refuses(request: IncomingMessage, response: ServerResponse): boolean {
    const { headers, method = '' } = request;
    if (this.#total < MUCH || headers.origin !== undefined || !isShown(headers)) return false;
    const route = routeOf(request);
    if (!this.#plain.has(route) || !this.#isTooMuch(slotOf(headers, ''))) return false;
    response.writeHead(BUSY.status, HEAD).end(TEXT);
    this.onRefused(method, route.slice(method.length + 1), BUSY.status);
    return true;
  }

  addTo(app: FastifyInstance): void {
    app.addHook('onRoute', ({ method, url, config }) => {
      const isPlain = !/[:*]/.test(url) && !ALWAYS.has(url) && !(config?.errorShape ?? config?.errorFields);
      if (isPlain) for (const one of [method].flat()) this.#plain.add(`${one} ${url}`);
    });
    app.addHook('onRequest', (request, reply, done) => {
      const { raw } = reply;
      if (isListening(raw) || ALWAYS.has(request.routeOptions.url ?? '')) return done();
      const slot = slotOf(request.headers, request.ip);
      if (this.#isTooMuch(slot)) return refuse(request, reply, done);
      this.#total += 1;
      this.#underWay[slot]! += 1;
      raw.once('close', () => {
        this.#total -= 1;
        this.#underWay[slot]! -= 1;
      });
      this.#beginnings.begin(slot, done);
    });
  }

  #isTooMuch(slot: number): boolean {
    if (this.#total < MUCH || this.#underWay[slot] === 0 || this.#beginnings.isAlone(slot)) return false;
    return this.#total >= this.#room();
  }
}
