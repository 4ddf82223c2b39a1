import type { ServerResponse } from 'node:http';
import type { Endpoint } from '@troupe/contract';
import type { FastifyReply, FastifyRequest, onRequestHookHandler, preHandlerHookHandler } from 'fastify';
import { countedAddress } from '../addresses.ts';
import { busy } from '../fair.ts';
import { parseJson } from '../json.ts';
import { leaveToOthers } from '../turns.ts';
import { createAdmission } from './callers.ts';
import { allowPage, checkPage } from './cors.ts';
import { bytesOf } from './large-bodies.ts';
import { limitFor } from './limits.ts';
import type { Leave, Turn } from './places.ts';
import type { Identity, User } from './principal.ts';
import { BODY_LIMIT, type Server } from './server.ts';

type Guard = (request: FastifyRequest) => unknown;
type Admit = (request: FastifyRequest, reply: FastifyReply) => Promise<void> | undefined;

function withTold(server: Server, principal: unknown, request: FastifyRequest): unknown {
  const toldAs = principal ? server.toldAs(request) : undefined;
  return toldAs === undefined ? principal : { ...(principal as User), toldAs };
}

/** At the head of a request: rate limit, guard, the user's limit. A promise only where something is waited for. */
function createAdmit(server: Server, endpoint: Endpoint, guard: Guard): Admit {
  const { counters, callers, clientAddress, toldAs: told, askedAgain, service, rateRules } = server;
  const limit = limitFor(counters, service, endpoint.method, endpoint.path, rateRules);
  const userLimit = limitFor(counters, service, endpoint.method, endpoint.path, rateRules, 'user');

  const limitUser = (request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined => {
    const { principal } = request;
    // Without a key there is none that could name the page.
    if (endpoint.pages === true && endpoint.auth !== 'none') checkPage(request, principal, server.originFor(request));
    const bytes = bytesOf(request, endpoint.bodyLimit ?? BODY_LIMIT);
    if (bytes > 0) server.largeBodies(bytes, reply, countedAs(principal) || strangerOf(server, request));
    if (!userLimit || !principal || askedAgain(request)) return undefined;
    return userLimit(request, reply, countedAs(principal));
  };
  const identify = (request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined => {
    const found = guard(request);
    if (!(found instanceof Promise)) {
      request.principal = found;
      return limitUser(request, reply);
    }
    return found.then((principal) => {
      request.principal = withTold(server, principal, request);
      return limitUser(request, reply);
    });
  };
  if (!limit) return identify;
  const count = createAdmission({ auth: endpoint.auth, counters, callers, limit, told, clientAddress, identify });
  return (request, reply) => (askedAgain(request) ? identify(request, reply) : count(request, reply));
}

/** What a request passes before its handler. */
export function createGate(
  server: Server,
  endpoint: Endpoint,
): { onRequest: onRequestHookHandler; preHandler: preHandlerHookHandler } {
  const texts = { unauthorized: endpoint.unauthorized ?? 'Unauthorized' };
  const guardOf = server.guards[endpoint.auth] as (request: FastifyRequest, given: typeof texts) => unknown;
  const guard: Guard = (request) => guardOf(request, texts);
  const admit = createAdmit(server, endpoint, guard);

  // Somebody let in at the head may be out when the last of the body arrives: those are asked for again.
  const late = new WeakSet<FastifyRequest>();
  const goOn = async (admitted: Promise<void>, request: FastifyRequest, done: Done): Promise<void> => {
    try {
      await admitted;
    } catch (error) {
      return done(error as Error);
    }
    if (request.principal && !request.raw.complete) late.add(request);
    done();
  };
  const admitAgain = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    request.principal = withTold(server, await guard(request), request);
    await takePlace(server, request, reply);
  };
  const read = endpoint.rawBody ? noBody : readBody;

  // Whether the process lives is asked most when it has too much to do.
  const takePlace = endpoint.path === '/health' ? noPlace : enter;

  return {
    onRequest: (request, reply, done) => {
      let admitted: Promise<void> | undefined;
      try {
        if (endpoint.pages) allowPage(request, reply);
        admitted = admit(request, reply);
      } catch (error) {
        return done(error as Error);
      }
      // Most callers of a busy route are known at once: a promise for nothing costs as much as the check.
      if (admitted) void goOn(admitted, request, done);
      else done();
    },
    preHandler: (request, reply, done) => {
      let ready: Promise<void> | undefined;
      try {
        const entered = late.has(request) ? admitAgain(request, reply) : takePlace(server, request, reply);
        ready = entered ? entered.then(() => read(server, request, reply)) : read(server, request, reply);
      } catch (error) {
        return done(error as Error);
      }
      if (ready) void goOn(ready, request, done);
      else done();
    },
  };
}

/** Takes a place; a promise only when there is none yet. */
function enter(server: Server, request: FastifyRequest, { raw }: FastifyReply): Promise<void> | undefined {
  if (raw.destroyed) return undefined;
  const account = accountOf(request.principal);
  if (account === undefined && server.isOurs(request)) {
    hold(request, raw, server.places.pass());
    return undefined;
  }
  const place = server.places.enter(account ?? strangerOf(server, request), account === undefined);
  if (typeof place !== 'function') return waitForPlace(request, raw, place);
  hold(request, raw, place);
  return undefined;
}

/** Who goes while it waits leaves nothing behind, its body least of all. */
async function waitForPlace(request: FastifyRequest, raw: ServerResponse, { comes, withdraw }: Turn): Promise<void> {
  raw.once('close', withdraw);
  const leave = await comes;
  raw.off('close', withdraw);
  hold(request, raw, leave);
}

const noPlace = (): undefined => undefined;
const noBody = noPlace;

/** A text that takes longer to read than it is worth to wait for, in characters. */
const LONG_BODY = 8192;

/**
 * Reads the JSON that came. Whoever lets a hundred long ones arrive together would hold up everybody until the last of them
 * is read: so they are read in turns of their senders, and after each others have four times as long.
 */
function readBody(server: Server, request: FastifyRequest, { raw }: FastifyReply): Promise<void> | undefined {
  const text = request.body;
  if (typeof text !== 'string') return undefined;
  const { invalidJson } = request.routeOptions.config;
  if (text.length <= LONG_BODY) {
    request.body = parseJson(text, invalidJson);
    return undefined;
  }
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const turn = async (): Promise<void> => {
    const began = performance.now();
    try {
      // Nobody waits for it any more.
      if (raw.destroyed) throw busy();
      request.body = parseJson(text, invalidJson);
      resolve();
    } catch (error) {
      reject(error as Error);
    }
    await leaveToOthers(performance.now() - began);
  };
  server.reading.run(accountOf(request.principal) ?? strangerOf(server, request), turn).catch(reject);
  return promise;
}

const HELD = Symbol('the request that holds a place');
type Holding = ServerResponse & { [HELD]?: FastifyRequest };

/** Until the answer, or whatever else becomes of the request. One function for all: a new one with each would cost more. */
function hold(request: FastifyRequest, raw: Holding, leave: Leave): void {
  request.leave = leave;
  if (raw.destroyed) return leavePlace(request);
  raw[HELD] = request;
  raw.on('close', closed);
}

function closed(this: Holding): void {
  if (this[HELD]) leavePlace(this[HELD]);
}

/** Gives back the place that a request has, if it still has one. */
export function leavePlace(request: FastifyRequest): void {
  const { leave } = request;
  if (!leave) return;
  request.leave = undefined;
  leave();
}

/** What is written sooner holds up nobody. */
const LONG_ANSWER_MS = 2;
/** What is read for an answer takes the loop about as long as writing it, and others have four times as long. */
const SHARE_OF_OTHERS = 8;

/** After an answer that took so long to write others have the loop before the same account has more of them. */
export function leaveLoop(server: Server, request: FastifyRequest, took: number): void {
  if (took < LONG_ANSWER_MS) return;
  const account = accountOf(request.principal);
  if (account === undefined && server.isOurs(request)) return;
  server.places.rest(account ?? strangerOf(server, request), took * SHARE_OF_OTHERS);
}

type Done = (error?: Error) => void;

/** Whom a request counts for; nobody has one name, too. */
export const countedAs = (principal: unknown): string => {
  const { id = '', countedAs: other } = (principal ?? {}) as Partial<Pick<User, 'id' | 'countedAs'>>;
  return other ?? id;
};

/** The address of somebody whom nobody knows. */
const strangerOf = (server: Server, request: FastifyRequest): string =>
  `address:${countedAddress(server.clientAddress(request))}`;

/** Whose place a request takes; undefined: nobody is known, or nobody vouches for who it is. */
function accountOf(principal: unknown): string | undefined {
  const found = principal as Partial<User & Identity> | null | undefined;
  if (!found?.id || found.verified === false) return undefined;
  // All that an account has is one: agents with keys of their own, too.
  return found.toldAs ?? `user:${found.id}`;
}
