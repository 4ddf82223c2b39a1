import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import {
  errorCheck,
  errorText,
  invalidField,
  type Endpoint,
  type EndpointTypes,
  validationMessage,
} from '@troupe/contract';
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import type { z } from 'zod';
import { AppError, ContractError } from '../errors.ts';
import type { EndOfTurn } from '../turns.ts';
import { drained, STALLED_MS } from './drained.ts';
import { countedAs, createGate, leaveLoop, leavePlace } from './gate.ts';
import { cookiesOf } from './guards.ts';
import type { Leave } from './places.ts';
import type { PrincipalOf } from './principal.ts';
import { isAnswer, type Answer } from './reply.ts';
import type { Server } from './server.ts';

/** What a handler may want to know about the request beside its validated parts. */
export interface RequestInfo {
  /** The address that it came from. */
  address: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  cookies: () => Record<string, string | undefined>;
  /** The path without the query. */
  path: string;
  /** The platform's own origin, as the client sees it. */
  origin: string;
  /** The body as it came, where the endpoint asks for that. */
  rawBody: string;
  /** The same where it is a file. */
  bytes: Buffer;
  /** Aborted when the client goes or the server closes. */
  signal: () => AbortSignal;
  /** So much is in memory for it beside its body, until it is answered: it counts as a body of that size. */
  holds: (bytes: number) => void;
}

export interface Input<T extends EndpointTypes> {
  user: PrincipalOf<T['auth']>;
  params: T['params'];
  query: T['query'];
  body: T['body'];
  request: RequestInfo;
}

export type Handler<T extends EndpointTypes> = (input: Input<T>) => Promise<T['reply'] | Answer> | T['reply'] | Answer;

/** Validation, handler, answer. Without a promise of its own: that of the handler is enough. */
function createAnswering<T extends EndpointTypes>(
  server: Server,
  endpoint: Endpoint<T>,
  handler: Handler<T>,
  undeclared: ReturnType<typeof declaredCheck>,
): RouteHandlerMethod {
  // Outside production an answer that is not what the contract says is an error: the reference must be true.
  const isChecked = server.settings.NODE_ENV !== 'production';
  return (request, reply) => {
    let result: ReturnType<typeof handler>;
    try {
      result = handler({
        user: request.principal as never,
        params: parse(endpoint, endpoint.params, request.params, 'path') as never,
        query: parse(endpoint, endpoint.query, request.query, 'query') as never,
        body: (endpoint.rawBody ? undefined : parse(endpoint, endpoint.body, request.body ?? {}, 'body')) as never,
        request: new Info(server, request, reply),
      });
    } catch (error) {
      return fail(error);
    }
    if (result instanceof Promise) result.then(answer, fail);
    else answer(result);

    function answer(given: T['reply'] | Answer): void {
      leavePlace(request);
      if (isAnswer(given))
        return attempt(() => {
          if (undeclared) assertDeclared(undeclared, given);
          write(() => send(server, reply, given, endpoint));
        });
      attempt(() => {
        if (isChecked && endpoint.reply) assertReply(endpoint.reply, given, endpoint);
        server.endOfTurn(() => attempt(() => write(() => reply.status(endpoint.status ?? 200).send(given))));
      });
    }
    function write(work: () => unknown): void {
      const began = performance.now();
      work();
      leaveLoop(server, request, performance.now() - began);
    }
    function attempt(work: () => unknown): void {
      try {
        work();
      } catch (error) {
        fail(error);
      }
    }
    function fail(error: unknown): void {
      leavePlace(request);
      void reply.send(error instanceof Error ? error : new Error(String(error)));
    }
  };
}

/** Attaches an endpoint to a server: rate limit, guard (and the user's limit), validation, handler, answer, in that order. */
export function serve<T extends EndpointTypes>(server: Server, endpoint: Endpoint<T>, handler: Handler<T>): void {
  const { app, service } = server;
  if (endpoint.service !== service)
    throw new Error(`${endpoint.method} ${endpoint.path} is not an endpoint of ${service}`);
  server.endpoints.push(endpoint);
  const undeclared = declaredCheck(server, endpoint);
  app.route({
    method: endpoint.method,
    url: endpoint.path,
    config: {
      rawBody: endpoint.rawBody,
      invalidJson: endpoint.invalidJson,
      failure: endpoint.failure,
      errorFields: endpoint.errorFields,
      errorShape: endpoint.errorShape,
      undeclared,
    },
    bodyLimit: endpoint.bodyLimit,
    ...createGate(server, endpoint),
    handler: createAnswering(server, endpoint, handler, undeclared),
  });
}

function parse({ errorShape }: Endpoint, schema: z.ZodType | undefined, value: unknown, whole: string): unknown {
  if (!schema) return undefined;
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const param = invalidField(parsed.error);
  throw new AppError(400, validationMessage(parsed.error, whole), errorShape && param !== undefined ? { param } : {});
}

function assertReply(schema: z.ZodType, value: unknown, endpoint: Endpoint): void {
  const parsed = schema.safeParse(value);
  if (!parsed.success)
    throw new Error(
      `reply of ${endpoint.method} ${endpoint.path} breaks its schema: ${validationMessage(parsed.error, 'reply')}`,
    );
}

/** Fails a test. Who runs the platform for real without saying so is answered, and reads it in the log. */
function declaredCheck({ settings, log }: Server, endpoint: Endpoint): ReturnType<typeof errorCheck> | undefined {
  if (settings.NODE_ENV === 'production') return undefined;
  const check = errorCheck(endpoint);
  if (settings.NODE_ENV === 'test') return check;
  return (status, text) => {
    const wrong = check(status, text);
    if (wrong !== undefined) log.error({ path: endpoint.path, status }, wrong);
    return undefined;
  };
}

/** What is streamed is passed on from elsewhere, and not read here. */
function assertDeclared(
  undeclared: ReturnType<typeof errorCheck>,
  { status = 200, body, stream, texts }: Answer,
): void {
  if (status < 400 || stream || texts) return;
  const wrong = undeclared(status, errorText((body as { error?: unknown } | undefined)?.error));
  if (wrong !== undefined) throw new ContractError(wrong);
}

function send(
  server: Server,
  reply: FastifyReply,
  { status, headers, body, stream, texts }: Answer,
  endpoint: Endpoint,
): void {
  void reply.status(status ?? endpoint.status ?? 200).headers(headers);
  // Begins anew with whatever the client takes, which is seen at its end: who takes nothing is let go after twice the time.
  if (stream) reply.raw.setTimeout(STALLED_MS, () => reply.raw.destroy());
  if (!texts) return void reply.send(stream ?? body ?? '');
  reply.hijack();
  reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders);
  // Who listens must hear that somebody is there, also where there is nothing to say yet.
  if (reply.request.method === 'GET') reply.raw.flushHeaders();
  if (reply.request.method === 'HEAD') void endTexts(reply.raw, texts);
  else void writeTexts(reply.raw, texts, server.endOfTurn);
}

/** Characters that are written before the turn is over. */
const TEXT_AT_ONCE = 65_536;

/**
 * Straight to the socket: a stream object between them costs as much as everything else about a short answer. What comes
 * in one turn is one write.
 */
async function writeTexts(raw: ServerResponse, texts: AsyncIterable<string>, endOfTurn: EndOfTurn): Promise<void> {
  const pieces = texts[Symbol.asyncIterator]();
  let waiting = '';
  let over = false;
  const flush = (): void => {
    if (waiting === '' || over || raw.destroyed) return;
    raw.write(waiting);
    waiting = '';
  };
  try {
    for (;;) {
      let piece: IteratorResult<string> | undefined = await pieces.next();
      if (piece.done || raw.destroyed) break;
      if (waiting === '') endOfTurn(flush);
      waiting += piece.value;
      // A function that waits keeps what its variables hold: here, the last words of each stream.
      piece = undefined;
      if (waiting.length > TEXT_AT_ONCE) flush();
      if (raw.writableNeedDrain) await drained(raw);
    }
    over = true;
    endOfTurn(() => raw.end(waiting));
  } catch (error) {
    flush();
    // The head is out: all that is left is to break off, so that the client does not take a part for the whole.
    raw.destroy(error as Error);
  } finally {
    await pieces.return?.();
  }
}

/** Whoever asks for the head alone hears none of it; what feeds the answer is begun and let go. */
async function endTexts(raw: ServerResponse, texts: AsyncIterable<string>): Promise<void> {
  const pieces = texts[Symbol.asyncIterator]();
  try {
    await pieces.next();
    raw.end();
  } catch (error) {
    raw.destroy(error as Error);
  } finally {
    await pieces.return?.();
  }
}

/** Works out what a handler asks for when it asks: most need little of it. */
class Info implements RequestInfo {
  readonly #server: Server;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;

  constructor(server: Server, request: FastifyRequest, reply: FastifyReply) {
    this.#server = server;
    this.#request = request;
    this.#reply = reply;
  }

  get address(): string {
    return this.#server.clientAddress(this.#request);
  }

  get headers(): RequestInfo['headers'] {
    return this.#request.headers;
  }

  get path(): string {
    return this.#request.url.split('?', 1)[0] ?? '';
  }

  get origin(): string {
    return this.#server.originFor(this.#request);
  }

  get rawBody(): string {
    return typeof this.#request.body === 'string' ? this.#request.body : '';
  }

  get bytes(): Buffer {
    return Buffer.isBuffer(this.#request.body) ? this.#request.body : Buffer.alloc(0);
  }

  cookies(): Record<string, string | undefined> {
    return cookiesOf(this.#request);
  }

  holds(bytes: number): void {
    this.#server.largeBodies(bytes, this.#reply, countedAs(this.#request.principal));
  }

  signal(): AbortSignal {
    return signalOf(this.#server, this.#reply);
  }
}

function signalOf(server: Server, reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const abort = (): void => gone.abort();
  if (server.closing.aborted) abort();
  // By hand: AbortSignal.any costs twenty times as much, with every request.
  const place = server.onClosing.add(abort);
  reply.raw.once('close', () => {
    server.onClosing.delete(place);
    if (!reply.raw.writableFinished) abort();
  });
  return gone.signal;
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: unknown;
    /** Gives the place back that it has; undefined: it has none. */
    leave: Leave | undefined;
  }
}
