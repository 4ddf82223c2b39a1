import { CallError, refusedPath, shapedError, shapeFor, type Endpoint } from '@troupe/contract';
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { answerable, AppError, ContractError } from '../errors.ts';
import { NO_NULL_CHARACTERS } from '../json.ts';
import type { Log } from '../log.ts';
import { answersPreflight, methodsForPages } from './cors.ts';

/** How whatever is thrown is answered, in the shape that the endpoint's clients expect. */

interface Served {
  app: FastifyInstance;
  log: Log;
  endpoints: readonly Endpoint[];
}

export function addErrors({ app, log, endpoints }: Served): void {
  app.setNotFoundHandler((request, reply) => {
    if (answersPreflight(request, reply, () => methodsForPages(endpoints, request.url))) return reply;
    const known = new AppError(404, refusedPath(request.url) ?? 'Not found');
    const shape = request.url.startsWith('/v1/') ? 'either' : undefined;
    return reply.status(404).send(errorBody(request, known.body, 404, shape));
  });
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const { errorFields, errorShape, failure, undeclared } = request.routeOptions.config;
    const given = asAppError(error, request);
    const wrong =
      error instanceof ContractError ? error.message : given ? undeclared?.(given.status, given.message) : undefined;
    const known = wrong === undefined ? given : null;
    // That another service of ours has too much to do is in its own numbers, not a line for each question.
    if (known?.cause !== undefined && known.status === 503 && !(known.cause instanceof CallError))
      log.warn({ err: known.cause, requestId: request.id, path: request.routeOptions.url }, known.message);
    if (known) {
      // Clients of these protocols try a 429 again by themselves: no money is not a matter of waiting a little.
      if (errorShape && known.code === 'QUOTA_EXCEEDED') void reply.header('x-should-retry', 'false');
      return reply
        .status(known.status)
        .headers(known.headers)
        .send(errorBody(request, { ...errorFields, ...known.body }, known.status, errorShape));
    }
    log.error(
      { err: error, requestId: request.id, method: request.method, path: request.routeOptions.url },
      wrong ?? 'request failed',
    );
    const body = { ...errorFields, error: wrong ?? failure ?? 'Internal server error' };
    return reply.status(500).send(errorBody(request, body, 500, errorShape));
  });
}

function asAppError(error: FastifyError, request: FastifyRequest): AppError | null {
  const known = answerable(error);
  if (known) return known;
  // A service of ours that is asked too often by the same client, or cannot now, says so to that client.
  if (error instanceof CallError && (error.status === 429 || (error.status === 503 && 'retry-after' in error.headers)))
    return new AppError(error.status, error.message, {}, { cause: error, headers: error.headers });
  // PostgreSQL takes every character but one, in texts and in JSON.
  if (error.code === '22021' || error.code === '22P05')
    return new AppError(400, NO_NULL_CHARACTERS, {}, { cause: error });
  // A bound of how much one user keeps (migration 0115).
  if (error.code === 'TR429') return new AppError(429, error.message, {}, { cause: error });
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new AppError(413, 'Request body too large');
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return new AppError(400, 'Content-Type must be application/json');
  // What is left below 500 comes from reading the request: a body that is no JSON, a broken length, a bad URL.
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    const isBody = error.code?.startsWith('FST_ERR_CTP');
    return new AppError(
      error.statusCode,
      isBody ? (request.routeOptions.config.invalidJson ?? 'Invalid JSON') : error.message,
    );
  }
  return null;
}

/** The error as the clients of the endpoint expect it. */
function errorBody(
  request: FastifyRequest,
  body: Record<string, unknown>,
  status: number,
  shape: Endpoint['errorShape'],
): Record<string, unknown> {
  if (!shape) return body;
  return shapedError(shape === 'either' ? shapeFor(request.headers) : shape, status, body, request.id);
}
