import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import type { User } from './principal.ts';

/**
 * Pages of other origins may call what a key opens, if the key says so. Who asks first (OPTIONS) shows no key, so everybody
 * is told yes there; the call itself is refused, and the page can read why.
 */

const READABLE =
  'retry-after, x-request-id, x-should-retry, ratelimit-limit, ratelimit-remaining, ratelimit-reset, www-authenticate, mcp-session-id, mcp-protocol-version';
const METHODS = 'GET, POST';
/** A list of names of headers. */
const NAMES = /^[\w-]+(?:, *[\w-]+){0,99}$/;
const KEPT_S = '600';

const originOf = ({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined => {
  const { origin } = headers;
  // What goes into a header of ours must be what an origin looks like.
  return typeof origin === 'string' && /^[\w+.:/[\]-]{1,300}$/.test(origin) ? origin : undefined;
};

export function allowPage(request: FastifyRequest, reply: FastifyReply): void {
  const origin = originOf(request);
  if (origin === undefined) return;
  void reply.headers({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': READABLE,
    vary: 'Origin',
  });
}

/** `own` is the platform's own origin. */
export function checkPage(request: FastifyRequest, principal: unknown, own: string): void {
  if (request.headers.origin === undefined) return;
  const origin = originOf(request);
  const allowed = (principal as Partial<User> | null)?.origins ?? [];
  if (origin === own || allowed.includes('*') || (origin !== undefined && allowed.includes(origin))) return;
  throw new AppError(403, `This key is not for pages of ${origin ?? 'this origin'}: make one that names it`);
}

/** True when it was the question of a browser, and is answered. */
export function answersPreflight(request: FastifyRequest, reply: FastifyReply): boolean {
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false;
  allowPage(request, reply);
  const asked = request.headers['access-control-request-headers'];
  void reply
    .status(204)
    .headers({
      'access-control-allow-methods': METHODS,
      'access-control-max-age': KEPT_S,
      ...(typeof asked === 'string' && NAMES.test(asked) ? { 'access-control-allow-headers': asked } : {}),
    })
    .send();
  return true;
}
