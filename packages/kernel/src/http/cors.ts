import type { Endpoint } from '@troupe/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import type { User } from './principal.ts';

/**
 * Pages of other origins may call what a key opens, if the key says so. Who asks first (OPTIONS) shows no key, so everybody
 * is told yes there; the call itself is refused, and the page can read why.
 */

const READABLE =
  'retry-after, x-request-id, x-should-retry, ratelimit-limit, ratelimit-remaining, ratelimit-reset, www-authenticate, mcp-session-id, mcp-protocol-version';
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

type Way = Pick<Endpoint, 'path' | 'pages'> & { method: string };

/** How pages may call this address; none: there is nothing for them. */
export function methodsForPages(endpoints: readonly Way[], url: string): string[] {
  const asked = url.split('?', 1)[0]!.split('/');
  const isAt = ({ path }: Way): boolean => {
    const parts = path.split('/');
    return parts.length === asked.length && parts.every((part, at) => part === asked[at] || part.startsWith(':'));
  };
  return [...new Set(endpoints.filter((one) => one.pages && isAt(one)).map(({ method }) => method))];
}

const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

/** True when it was the question of a browser, and is answered. */
export function answersPreflight(
  request: FastifyRequest,
  reply: FastifyReply,
  methods: () => readonly string[],
): boolean {
  const taken = isPreflight(request) ? methods() : [];
  if (taken.length === 0) return false;
  allowPage(request, reply);
  const asked = request.headers['access-control-request-headers'];
  void reply
    .status(204)
    .headers({
      'access-control-allow-methods': taken.join(', '),
      'access-control-max-age': KEPT_S,
      ...(typeof asked === 'string' && NAMES.test(asked) ? { 'access-control-allow-headers': asked } : {}),
    })
    .send();
  return true;
}
