import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type Endpoint, type EndpointTypes, validationMessage } from '@troupe/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { AppError } from '../errors.ts';
import { cookiesOf } from './guards.ts';
import { limitFor } from './limits.ts';
import type { PrincipalOf, User } from './principal.ts';
import { isAnswer, type Answer } from './reply.ts';
import type { Server } from './server.ts';

/** What a handler may want to know about the request beside its validated parts. */
export interface RequestInfo {
  id: string;
  /** The address that limits count for. */
  address: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  cookies: () => Record<string, string | undefined>;
  /** The path without the query. */
  path: string;
  /** The body as it came, where the endpoint asks for that. */
  rawBody: string;
  /** Aborted when the client goes or the server closes. */
  signal: () => AbortSignal;
}

export interface Input<T extends EndpointTypes> {
  user: PrincipalOf<T['auth']>;
  params: T['params'];
  query: T['query'];
  body: T['body'];
  request: RequestInfo;
}

export type Handler<T extends EndpointTypes> = (input: Input<T>) => Promise<T['reply'] | Answer> | T['reply'] | Answer;

/** Attaches an endpoint to a server: rate limit, guard (and the user's limit), validation, handler, answer, in that order. */
export function serve<T extends EndpointTypes>(server: Server, endpoint: Endpoint<T>, handler: Handler<T>): void {
  const { app, guards, service } = server;
  if (endpoint.service !== service)
    throw new Error(`${endpoint.method} ${endpoint.path} is not an endpoint of ${service}`);
  server.endpoints.push(endpoint);
  const limit = limitFor(server.counters, service, endpoint.method, endpoint.path, server.rateRules);
  const userLimit = limitFor(server.counters, service, endpoint.method, endpoint.path, server.rateRules, 'user');
  const guard = guards[endpoint.auth] as (request: FastifyRequest, texts: { unauthorized: string }) => unknown;
  const texts = { unauthorized: endpoint.unauthorized ?? 'Unauthorized' };
  // Outside production a reply that breaks its own schema is an error: the reference must be true.
  const check = server.settings.NODE_ENV === 'production' ? undefined : endpoint.reply;

  const limitUser = (request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined =>
    userLimit && request.principal ? userLimit(request, reply, countedAs(request.principal)) : undefined;
  const identify = (request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined => {
    const found = guard(request, texts);
    if (!(found instanceof Promise)) {
      request.principal = found;
      return limitUser(request, reply);
    }
    return found.then((principal) => {
      request.principal = principal;
      return limitUser(request, reply);
    });
  };
  const admit = (request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined => {
    const counted = limit?.(request, reply, server.clientAddress(request));
    return counted ? counted.then(() => identify(request, reply)) : identify(request, reply);
  };

  app.route({
    method: endpoint.method,
    url: endpoint.path,
    config: {
      rawBody: endpoint.rawBody,
      invalidJson: endpoint.invalidJson,
      failure: endpoint.failure,
      errorFields: endpoint.errorFields,
    },
    onRequest: (request, reply, done) => {
      let admitted: Promise<void> | undefined;
      try {
        admitted = admit(request, reply);
      } catch (error) {
        return done(error as Error);
      }
      // Most callers of a busy route are known at once: a promise for nothing costs as much as the check.
      if (admitted) void goOn(admitted, done);
      else done();
    },
    handler: async (request, reply) => {
      const result = await handler({
        user: request.principal as never,
        params: parse(endpoint.params, request.params, 'path') as never,
        query: parse(endpoint.query, request.query, 'query') as never,
        body: (endpoint.rawBody ? undefined : parse(endpoint.body, request.body ?? {}, 'body')) as never,
        request: infoOf(server, request, reply, endpoint.rawBody ?? false),
      });
      if (isAnswer(result)) return send(server, reply, result, endpoint.status);
      if (check) assertReply(check, result, endpoint);
      await server.endOfTurn();
      return reply.status(endpoint.status ?? 200).send(result);
    },
  });
}

const countedAs = (principal: unknown): string => {
  const { id, countedAs: other } = principal as Pick<User, 'id' | 'countedAs'>;
  return other ?? id;
};

async function goOn(admitted: Promise<void>, done: (error?: Error) => void): Promise<void> {
  try {
    await admitted;
  } catch (error) {
    return done(error as Error);
  }
  done();
}

function parse(schema: z.ZodType | undefined, value: unknown, whole: string): unknown {
  if (!schema) return undefined;
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new AppError(400, validationMessage(parsed.error, whole));
}

function assertReply(schema: z.ZodType, value: unknown, endpoint: Endpoint): void {
  const parsed = schema.safeParse(value);
  if (!parsed.success)
    throw new Error(
      `reply of ${endpoint.method} ${endpoint.path} breaks its schema: ${validationMessage(parsed.error, 'reply')}`,
    );
}

function send(
  server: Server,
  reply: FastifyReply,
  { status, headers, body, stream, texts }: Answer,
  fallback = 200,
): FastifyReply {
  void reply.status(status ?? fallback).headers(headers);
  if (!texts) return reply.send(stream ?? body ?? '');
  reply.hijack();
  reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders);
  void writeTexts(reply.raw, texts, server.endOfTurn);
  return reply;
}

/** Characters that are written before the turn is over. */
const TEXT_AT_ONCE = 65_536;

/**
 * Straight to the socket: a stream object between them costs as much as everything else about a short answer. What comes
 * in one turn is one write.
 */
async function writeTexts(
  raw: ServerResponse,
  texts: AsyncIterable<string>,
  endOfTurn: () => Promise<void>,
): Promise<void> {
  const pieces = texts[Symbol.asyncIterator]();
  let waiting = '';
  let over = false;
  const flush = (): void => {
    if (waiting === '' || over || raw.destroyed) return;
    raw.write(waiting);
    waiting = '';
  };
  try {
    for (let piece = await pieces.next(); !piece.done && !raw.destroyed; piece = await pieces.next()) {
      if (waiting === '') void endOfTurn().then(flush);
      waiting += piece.value;
      if (waiting.length > TEXT_AT_ONCE) flush();
      if (raw.writableNeedDrain) await drained(raw);
    }
    over = true;
    await endOfTurn();
    raw.end(waiting);
  } catch (error) {
    flush();
    // The head is out: all that is left is to break off, so that the client does not take a part for the whole.
    raw.destroy(error as Error);
  } finally {
    await pieces.return?.();
  }
}

/** Who reads nothing for so long is gone, and what feeds the answer is let go. */
const STALLED_MS = 120_000;

function drained(raw: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const stalled = setTimeout(() => raw.destroy(), STALLED_MS).unref();
    const go = (): void => {
      clearTimeout(stalled);
      raw.off('drain', go);
      raw.off('close', go);
      resolve();
    };
    raw.on('drain', go);
    raw.on('close', go);
    if (raw.destroyed) go();
  });
}

function infoOf(server: Server, request: FastifyRequest, reply: FastifyReply, raw: boolean): RequestInfo {
  return {
    id: request.id,
    address: server.clientAddress(request),
    headers: request.headers,
    cookies: () => cookiesOf(request),
    path: request.url.split('?', 1)[0] ?? '',
    rawBody: raw && typeof request.body === 'string' ? request.body : '',
    signal: () => signalOf(server, reply),
  };
}

function signalOf(server: Server, reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const abort = (): void => gone.abort();
  if (server.closing.aborted) abort();
  // By hand: AbortSignal.any costs twenty times as much, with every request.
  server.onClosing.add(abort);
  reply.raw.once('close', () => {
    server.onClosing.delete(abort);
    if (!reply.raw.writableFinished) abort();
  });
  return gone.signal;
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: unknown;
  }
}
