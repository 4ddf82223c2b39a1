import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import type { Counters } from '../counters.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { tellOthers, textOfAll } from '../process-metrics.ts';
import { readTraceparent, withTrace } from '../telemetry/trace.ts';
import { STALLED_MS } from './drained.ts';
import { bearerToken } from './guards.ts';
import type { Settings } from '../settings.ts';
import type { Places } from './places.ts';
import { DATA_HEADERS, PAGE_HEADERS } from './security-headers.ts';
import type { Shedding } from './shedding.ts';

/** An answer that the buffers of the system may not take at once. */
const LONG_ANSWER = 65_536;

/** Who reads nothing of a long answer would hold its connection for good: as with streams, two minutes are enough. */
function addPatience(app: FastifyInstance): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    const isLong = (typeof payload === 'string' || Buffer.isBuffer(payload)) && payload.length > LONG_ANSWER;
    if (isLong) reply.raw.setTimeout(STALLED_MS, () => reply.raw.destroy());
    done(null, payload);
  });
}

interface Observed {
  app: FastifyInstance;
  service: string;
  metrics: Metrics;
  log: Log;
  settings: Pick<Settings, 'LOG_LEVEL' | 'REDIS_URL'>;
  counters: Counters;
  places: Places;
  loopback: boolean;
}

/** What every answer carries, and what is told of all of them. */
export function addObservation(
  server: Observed,
  isInternal: (request: FastifyRequest) => boolean,
  shedding: Pick<Shedding, 'onRefused'>,
): void {
  const { app, metrics, service, log } = server;
  const headers = service === 'web' ? PAGE_HEADERS : DATA_HEADERS;
  addPatience(app);
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers(headers).header('x-request-id', request.id);
    done();
  });
  // after the body, whose events would come from outside of it
  app.addHook('preHandler', (request, _reply, done) => {
    const header = request.headers['traceparent'];
    if (header === undefined) done();
    else withTrace(readTraceparent(header), done);
  });
  const observe = requestObserver(metrics, service);
  shedding.onRefused = (method, route, status) => observe(method, route, status, 0);
  const stopTelling = tellOthers(metrics);
  app.addHook('onClose', async () => stopTelling());
  metrics.gauge('http_requests_under_way', 'Requests that are worked on now', () => server.places.underWay());
  if (server.settings.REDIS_URL !== undefined)
    metrics.gauges(REDIS, async () => ({ redis_up: (await server.counters.healthy()) ? 1 : 0 }));
  const logsRequests = server.settings.LOG_LEVEL === 'debug';
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    const seconds = reply.elapsedTime / 1000;
    observe(request.method, route, reply.statusCode, seconds);
    if (logsRequests)
      log.debug({ requestId: request.id, method: request.method, route, status: reply.statusCode, seconds }, 'request');
    done();
  });
  app.get('/metrics', async (request: FastifyRequest, reply: FastifyReply) => {
    const local = server.loopback && request.headers['x-forwarded-for'] === undefined;
    if (bearerToken(request) !== null) {
      if (!isInternal(request)) throw new AppError(403, 'Forbidden');
    } else if (!local) throw new AppError(401, 'Unauthorized');
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(await textOfAll(metrics));
  });
}

const REDIS = { redis_up: 'Whether Redis answers; without it each process counts limits by itself' };

/** Counts and times requests. The series of a route is looked up by one key, not put together at each request. */
function requestObserver(metrics: Metrics, service: string) {
  const known = new Map<string, (seconds: number) => void>();
  return (method: string, route: string, status: number, seconds: number): void => {
    const key = `${method} ${status} ${route}`;
    let observe = known.get(key);
    if (!observe) {
      const count = metrics.counter('http_requests_total', 'Requests answered', {
        service,
        method,
        route,
        status: String(status),
      });
      const time = metrics.histogram('http_request_duration_seconds', 'Time to answer', { service, route });
      observe = (taken) => {
        count();
        time(taken);
      };
      known.set(key, observe);
    }
    observe(seconds);
  };
}
