import http, { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Endpoint, Service } from '@troupe/contract';
import type { RateRule } from '@troupe/domain';
import { fastify, type FastifyInstance, type FastifyListenOptions, type FastifyRequest } from 'fastify';
import type { Counters } from '../counters.ts';
import { AppError } from '../errors.ts';
import { busy, createFairQueue, type FairQueue } from '../fair.ts';
import { randomHex } from '../ids.ts';
import { Linked } from '../linked.ts';
import type { Log } from '../log.ts';
import { createMetrics, type Metrics } from '../metrics.ts';
import { isOneOfSeveral, tellThatItListens } from '../processes.ts';
import { loopbackOnly, type Settings } from '../settings.ts';
import { ASKED_AGAIN } from '../steady-fetch.ts';
import { createEndOfTurn, type EndOfTurn } from '../turns.ts';
import { createCallers, type Callers } from './callers.ts';
import {
  boundConnections,
  boundRequests,
  connectionBounds,
  isLoopback,
  REQUEST_TIMES,
  type ConnectionBounds,
  type Connections,
} from './connections.ts';
import { checkAddress, hostCheck, hostsCheck, type CheckHosts } from './door.ts';
import { drain, tellClosing } from './drain.ts';
import { createGuards, type Guards } from './guards.ts';
import { createLargeBodies, type LargeBodies } from './large-bodies.ts';
import { listenError } from './listen-error.ts';
import { BACKLOG, canShare, freePort, openDoors } from './listening.ts';
import { addObservation } from './observation.ts';
import { createPlaces, type Places } from './places.ts';
import type { Authenticator } from './principal.ts';
import { createRecognition } from './recognition.ts';
import { ALWAYS, Shedding } from './shedding.ts';
import { SMALL_PIECES } from './small-pieces.ts';
import { addErrors } from './answer-errors.ts';
import { readWhole } from './whole-body.ts';

export const BODY_LIMIT = 1_048_576;
/** Longer than the proxies in front of us keep a connection. */
const KEEP_ALIVE_MS = 72_000;
/** One after the other: the loop can do no more. */
const READING = { width: 1, waiting: 1000, waitingPerKey: 100, waitMs: 20_000 };

export interface ServerOptions {
  service: Service;
  /** Another address than the one that a request names; undefined: that one. */
  rewrite?: (request: IncomingMessage) => string | undefined;
  settings: Settings;
  log: Log;
  counters: Counters;
  secrets: { internalKey: string | undefined; sessionSecret: string };
  /** Public address of this service. */
  url: string;
  accounts?: Authenticator;
  /** Whether what every request needs is there; answers soon. */
  ready?: () => Promise<boolean>;
  rateRules?: readonly RateRule[];
}

/** A Fastify server with the house's rules on it. Routes are added with `serve`. */
export interface Server {
  app: FastifyInstance;
  service: Service;
  settings: Settings;
  log: Log;
  counters: Counters;
  guards: Guards;
  metrics: Metrics;
  endpoints: Endpoint[];
  url: string;
  loopback: boolean;
  rateRules: readonly RateRule[] | undefined;
  /** The address that a request came from. */
  clientAddress: (request: FastifyRequest) => string;
  /** Whom the platform says that a request counts for in limits; undefined: it says nothing. */
  toldAs: (request: FastifyRequest) => string | undefined;
  callers: Callers;
  /** Shares the work between accounts. */
  places: Places;
  /** 421 for a host name that is not answered, 400 for two; for what does not come through a route, as upgrades do. */
  checkHost: CheckHosts;
  /** Where people open the platform. */
  origin: string;
  /** The platform's own origin, as this client sees it. */
  originFor: (request: FastifyRequest) => string;
  /** Room for bodies that are large. */
  largeBodies: LargeBodies;
  /** Turns to read what is long. */
  reading: FairQueue;
  /** Whether the platform itself asks, for somebody or not. */
  isOurs: (request: FastifyRequest) => boolean;
  /** The platform sent it once before, without an answer: it was counted then. */
  askedAgain: (request: FastifyRequest) => boolean;
  /** Aborted when the server takes nobody new any more; what is under way comes to its end. */
  draining: AbortSignal;
  /** Aborted when it ends what is still under way: streams end on it. */
  closing: AbortSignal;
  /** Called when the server begins to close; a listener on the signal costs ten times as much. */
  onClosing: Linked<() => void>;
  /** Answers wait for it, so that those which are ready in one turn are written one after the other. */
  endOfTurn: EndOfTurn;
  listen: (port: number, portSetting: string) => Promise<string>;
  close: () => Promise<void>;
}

export function createServer(options: ServerOptions): Server {
  const { service, settings, log, counters, secrets, url } = options;
  const metrics = createMetrics();
  const draining = new AbortController();
  const closing = new AbortController();
  const shedding = new Shedding();
  const app = createApp(options, shedding);
  const loopback = loopbackOnly(settings);
  const bounds = connectionBounds(settings);
  const { isInternal, isOurs, told, origin, originFor } = createRecognition(options, loopback);
  const clientAddress = (request: FastifyRequest) => told(request, 'x-client-ip') ?? request.ip;
  const server: Server = {
    app,
    origin,
    originFor,
    ...bodyBounds(),
    isOurs,
    service,
    settings,
    log,
    counters,
    metrics,
    url,
    loopback,
    clientAddress,
    toldAs: (request) => told(request, 'x-counted-as', 'x-client-ip'),
    askedAgain: (request) => told(request, ASKED_AGAIN) !== undefined,
    callers: createCallers(),
    places: createPlaces(Math.min(settings.MAX_REQUESTS, bounds.total)),
    endpoints: [],
    rateRules: options.rateRules,
    draining: draining.signal,
    closing: closing.signal,
    onClosing: new Linked(),
    endOfTurn: createEndOfTurn(),
    checkHost: hostsCheck(loopback ? hostCheck(settings, url) : undefined),
    guards: createGuards({ ...secrets, origin, originFor, loopback, accounts: options.accounts }),
    listen: (port, portSetting) => listenAt(app, settings.HOST, port, portSetting),
    async close() {
      draining.abort();
      await drain(app.server, connections, settings);
      closing.abort();
      await tellClosing(server.onClosing);
      await app.close();
      metrics.close();
    },
  };
  addDoor(server);
  const connections = addConnectionBounds(server, bounds, { isOurs, shedding });
  addBodyParsers(app);
  addErrors(server);
  addReadiness(server, options.ready);
  addObservation(server, isInternal, shedding);
  return server;
}

const bodyBounds = () => ({ largeBodies: createLargeBodies(), reading: createFairQueue(READING) });

async function listenAt(app: Server['app'], host: string, wanted: number, portSetting: string): Promise<string> {
  // Who may share a port is not told that somebody else has it; of several processes the first has looked.
  const port = canShare && !isOneOfSeveral() ? await freePort(host, wanted, portSetting) : wanted;
  try {
    // Passed on to Node; its types do not know it.
    const where: FastifyListenOptions & { reusePort: boolean } = {
      host,
      port,
      backlog: BACKLOG,
      reusePort: canShare || isOneOfSeveral(),
    };
    const address = await app.listen(where);
    if (canShare) await openDoors(app.server);
    tellThatItListens();
    return address;
  } catch (error) {
    throw listenError(error, host, port, portSetting);
  }
}

function createApp({ settings, rewrite }: ServerOptions, shedding: Shedding): FastifyInstance {
  // A name for the process and a number for the request: as good as chance to find a line in a log, and far cheaper.
  const run = randomHex(6);
  let requests = 0;
  return fastify({
    logger: false,
    bodyLimit: BODY_LIMIT,
    trustProxy: (_address, hop) => hop < settings.TRUST_PROXY,
    requestTimeout: REQUEST_TIMES.requestTimeout,
    serverFactory: (handler) =>
      http.createServer({ ...REQUEST_TIMES, keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
        if (!shedding.refuses(request, response)) handler(request, response);
      }),
    forceCloseConnections: true,
    clientErrorHandler: refuseUnreadable,
    schemaController: { compilersFactory: NO_SCHEMAS },
    ...(rewrite && { rewriteUrl: (request: IncomingMessage) => rewrite(request) ?? request.url ?? '/' }),
    routerOptions: { maxParamLength: 512, ignoreTrailingSlash: true },
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && /^[\w-]{8,64}$/.test(given) ? given : `${run}-${(requests += 1)}`;
    },
  });
}

/** Requests and replies are checked by the contract (serve.ts); Fastify's own compilers would be loaded for nothing. */
const noSchemas = (): never => {
  throw new Error('routes have no schema: endpoints of the contract are served with `serve`');
};
const NO_SCHEMAS = { buildValidator: noSchemas, buildSerializer: noSchemas };

/** What is no HTTP is told so, and that its connection ends here. */
function refuseUnreadable(error: { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy();
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const text = JSON.stringify({ error: error.code === SMALL_PIECES ? IN_PIECES : UNREADABLE[status] });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy());
}

const IN_PIECES = 'The body comes in too many small pieces';
const UNREADABLE = {
  400: 'The request is not valid HTTP',
  408: 'The request did not arrive in time',
  431: 'The headers are too large',
};

/** Before routes, limits and guards: who came by a name or an address that is not ours is told so, and no more. */
function addDoor(server: Server): void {
  server.app.addHook('onRequest', (request, reply, done) => {
    // Each layer between here and an agent listens once for its end; Node calls more than ten a leak.
    reply.raw.setMaxListeners(20);
    // One that came on a connection of before: the next belongs elsewhere.
    if (server.draining.aborted) void reply.header('connection', 'close');
    try {
      server.checkHost(request.raw);
      checkAddress(request.url);
    } catch (error) {
      return done(error as Error);
    }
    done();
  });
}

/** What one client may hold: connections, and behind a proxy, whose connections are everybody's, requests under way. */
function addConnectionBounds(
  server: Server,
  bounds: ConnectionBounds,
  { isOurs, shedding }: { isOurs: (request: FastifyRequest) => boolean; shedding: Shedding },
): Connections {
  const { app, settings } = server;
  const connections = boundConnections(app.server, bounds);
  app.addHook('onRequest', (request, _reply, done) => {
    if (!connections.isSurplus(request.raw.socket) || ALWAYS.has(request.routeOptions.url ?? '')) done();
    else done(busy());
  });
  shedding.addTo(app);
  if (settings.TRUST_PROXY === 0) return connections;
  const begin = boundRequests(bounds.perAddress);
  app.addHook('onRequest', (request, reply, done) => {
    if (isLoopback(request.ip) || begin(request.ip, reply.raw) || isOurs(request)) return done();
    done(new AppError(429, 'Too many requests at once', {}, { headers: { 'retry-after': '5' } }));
  });
  return connections;
}

/** The only type of an endpoint's body, where it is a file or a form. */
const RAW_TYPES = { bytes: 'application/octet-stream', form: 'multipart/form-data' } as const;

const onlyAs = (kind: keyof typeof RAW_TYPES) => new AppError(400, `Content-Type must be ${RAW_TYPES[kind]}`);

/** JSON only; an endpoint that takes the body as it came says so in its route config. */
function addBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const { rawBody } = request.routeOptions.config;
    if (typeof rawBody === 'string') return done(onlyAs(rawBody));
    // What is JSON is read later, in its turn.
    done(null, body === '' ? undefined : body);
  });
  for (const [kind, type] of Object.entries(RAW_TYPES))
    app.addContentTypeParser(type, (request, payload, done) => {
      const { rawBody } = request.routeOptions.config;
      readWhole(request, payload, (error, body) => {
        if (error) return done(error);
        if (typeof rawBody === 'string' && rawBody !== kind) return done(onlyAs(rawBody));
        if (rawBody) return done(null, rawBody === kind ? body : body?.toString());
        done(new AppError(400, 'Content-Type must be application/json'));
      });
    });
  app.addContentTypeParser('*', { parseAs: 'string' }, (request, body, done) => {
    const { rawBody } = request.routeOptions.config;
    if (typeof rawBody === 'string') return done(onlyAs(rawBody));
    if (rawBody) return done(null, body);
    done(new AppError(400, 'Content-Type must be application/json'));
  });
}

/** For load balancers: whether to send requests here. Whether the process should be replaced is another question. */
function addReadiness({ app, draining }: Server, ready: ServerOptions['ready']): void {
  app.get('/ready', async (_request, reply) => {
    const isReady = !draining.aborted && (!ready || (await ready()));
    return reply.status(isReady ? 200 : 503).send({ ready: isReady });
  });
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Says what is wrong with an error answer; left out in production. */
    undeclared?: (status: number, text: string) => string | undefined;
    rawBody?: boolean | 'bytes' | 'form';
    invalidJson?: string;
    failure?: string;
    errorFields?: Readonly<Record<string, unknown>>;
    errorShape?: Endpoint['errorShape'];
  }
}
