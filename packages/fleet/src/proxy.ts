import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import {
  CALLER_HEADER,
  createConnections,
  openedBy,
  type GatewayPrincipal,
  type Showing,
  type Verify,
} from '@troupe/agent';
import { AGENT_GONE, AGENT_NOT_FOUND } from '@troupe/contract';
import {
  answerTo,
  answerable,
  MOST_HEAD_BYTES,
  RelayError,
  requestUrl,
  type Log,
  type RelayedAnswer,
} from '@troupe/kernel';
import { type AllAgents, memberToken } from '@troupe/roster';
import { answeredHead, askedHeaders, isEventStream, switchedHead, switchHeaders } from './passed.ts';

/**
 * Passes requests on to an agent that lives elsewhere. Who may enter is checked here; the agent is then shown its own
 * token, so that tickets and devices' tokens open it too.
 */
export interface ProxyDeps {
  log: Log;
  /** Where the agent listens; undefined: it does not. */
  where: (agentId: string) => Promise<URL | undefined>;
  exists: (agentId: string) => Promise<boolean>;
  verify: Verify;
  /** The credentials to show to the agent in place of the caller's; undefined: nobody knows those, and none are shown. */
  credentials: (
    agentId: string,
    token: string,
    showing: Showing,
  ) => Promise<{ token: string; principal: GatewayPrincipal } | undefined>;
}

type Switched = NonNullable<RelayedAnswer['switched']>;

interface Target {
  agentId: string;
  path: string;
}

interface Onward {
  options: Omit<http.RequestOptions, 'headers'> & { headers: http.OutgoingHttpHeaders };
  /** Who asks, and what shows it. */
  known: { token: string; principal: GatewayPrincipal; showing: Showing } | undefined;
}

/** A machine that is gone refuses nobody: it says nothing. */
const CONNECT_MS = 5_000;

function send(options: http.RequestOptions): http.ClientRequest {
  const request = (options.protocol === 'https:' ? https : http).request({
    ...options,
    maxHeaderSize: MOST_HEAD_BYTES,
  });
  request.once('socket', (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(() => request.destroy(new Error('nobody is there')), CONNECT_MS);
    for (const event of ['connect', 'close']) socket.once(event, () => clearTimeout(timer));
  });
  return request;
}
/** An agent may think for long before it answers; longer than any of its runs may take is too long. */
const HEAD_MS = 30 * 60_000;
const SWITCH_MS = 30_000;
/** Of an answer that is no stream of events: whoever asks for it may keep all of it in memory. */
const MOST_BODY_BYTES = 64 * 1024 * 1024;
const NOT_RUNNING = { status: 502, message: 'Agent is not running' };
const UNKNOWN = { status: 404, message: AGENT_NOT_FOUND };
/** Ends a stream of events of an agent that was deleted meanwhile, as the agent's own gateway would. */
const GONE = `\n\ndata: ${JSON.stringify({ error: AGENT_NOT_FOUND, code: AGENT_GONE })}\n\ndata: [DONE]\n\n`;

export interface CredentialDeps {
  roster: Pick<AllAgents, 'find' | 'token'>;
  sessionSecret: string;
  verify: Verify;
}

/** An owner is shown as such; everybody else who may enter is a guest there, who is named. */
export function ownCredentials({ roster, sessionSecret, verify }: CredentialDeps): ProxyDeps['credentials'] {
  return async (agentId, token, showing) => {
    const principal = await verify(agentId, token, showing);
    const agent = principal && (await roster.find(agentId));
    if (!agent) return undefined;
    const isOwner = principal.kind === 'owner';
    const { token_generation: generation } = agent;
    return { token: isOwner ? await roster.token(agent) : memberToken(sessionSecret, agentId, generation), principal };
  };
}

interface Refusal {
  status: number;
  message: string;
  headers?: Readonly<Record<string, string>>;
}

/** What is answered when an agent cannot be reached. */
function createRefusals({ log, exists }: ProxyDeps) {
  function refusal(error: unknown): Refusal {
    const known = answerable(error);
    if (known) return known;
    if (error instanceof RelayError) return { status: 502, message: error.message };
    log.error({ err: error }, 'a request could not be passed on to an agent');
    return { status: 500, message: 'Internal server error' };
  }

  /** Why an agent does not answer: it is gone, or does not run. Where nobody can tell, as in a shutdown, the latter. */
  async function absence(agentId: string): Promise<typeof UNKNOWN> {
    try {
      return (await exists(agentId)) ? NOT_RUNNING : UNKNOWN;
    } catch (err) {
      log.warn({ err, agentId }, 'an agent that does not answer could not be looked up');
      return NOT_RUNNING;
    }
  }

  async function breakOff(agentId: string, response: ServerResponse): Promise<void> {
    const isStream = String(response.getHeader('content-type')).startsWith('text/event-stream');
    if (isStream && (await absence(agentId)) === UNKNOWN) response.end(GONE);
    else response.destroy();
  }

  const refuse = (response: ServerResponse, { status, message, headers = {} }: Refusal): void => {
    if (response.headersSent) return void response.destroy();
    response.writeHead(status, { ...headers, 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: message }));
  };

  /** What the caller is told of an agent that was not heard: what is wrong with its answer, or that it is not there. */
  async function unheard(agentId: string, error: unknown): Promise<typeof UNKNOWN> {
    log.debug({ err: error, agentId }, 'an agent was not heard');
    return error instanceof RelayError ? refusal(error) : absence(agentId);
  }

  return { refusal, absence, breakOff, refuse, unheard };
}
type Refusals = ReturnType<typeof createRefusals>;

function createOnward({ where, credentials }: ProxyDeps) {
  async function onward(
    request: IncomingMessage,
    { agentId, path }: Target,
    showing: Showing,
  ): Promise<Onward | undefined> {
    const there = await where(agentId);
    if (there === undefined) return undefined;
    const url = requestUrl(path);
    const token = shown(request, url);
    const found = token === undefined ? undefined : await credentials(agentId, token, showing);
    url.searchParams.delete('token');
    const options = {
      protocol: there.protocol,
      host: there.hostname,
      port: there.port,
      method: request.method,
      path: url.pathname + url.search,
      headers: {
        ...askedHeaders(request, there.host, found?.token),
        ...(found && { [CALLER_HEADER]: found.principal.id }),
      },
    };
    const known = found && token !== undefined ? { token, principal: found.principal, showing } : undefined;
    return { options, known };
  }

  return onward;
}

type Connections = ReturnType<typeof createConnections>;

/** Cuts a connection when the token that opened it is no longer valid. */
function track(
  connections: Connections,
  agentId: string,
  known: Onward['known'],
  stream: { once: (event: 'close', done: () => void) => unknown },
  cut: () => void,
): void {
  if (!known) return;
  const { token, showing, principal } = known;
  stream.once('close', connections.open({ agentId, token, showing, principalId: principal.id, cut }));
}

/** Begins to pass the answer on. */
async function pass(
  breakOff: Refusals['breakOff'],
  agentId: string,
  request: IncomingMessage,
  response: ServerResponse,
  options: http.RequestOptions,
): Promise<void> {
  const outgoing = send(options);
  response.once('close', () => outgoing.destroy());
  const answered = answerTo(outgoing, HEAD_MS);
  request.pipe(outgoing);
  const { incoming, switched } = await answered;
  if (switched) throw new RelayError('The agent switched to another protocol');
  const { status, headers } = answeredHead(incoming);
  response.writeHead(status, headers);
  if (!isEventStream(incoming)) bound(incoming, () => response.destroy());
  incoming.on('error', () => void breakOff(agentId, response));
  incoming.pipe(response);
}

export function createProxy(deps: ProxyDeps) {
  const { log, verify } = deps;
  const connections = createConnections({ verify, log });

  const onward = createOnward(deps);
  const { refusal, absence, breakOff, refuse, unheard } = createRefusals(deps);

  return {
    async handle(request: IncomingMessage, response: ServerResponse, target: Target): Promise<void> {
      const { agentId } = target;
      const to = await onward(request, target, { socket: false, ...openedBy(target.path) }).catch((error: unknown) =>
        refusal(error),
      );
      if (!to) return refuse(response, await absence(agentId));
      if ('message' in to) return refuse(response, to);
      if (response.destroyed) return;
      track(connections, agentId, to.known, response, () => response.destroy());
      const closed = new Promise<void>((resolve) => response.once('close', resolve));
      await pass(breakOff, agentId, request, response, to.options).catch(async (error: unknown) =>
        refuse(response, await unheard(agentId, error)),
      );
      await closed;
    },

    async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, target: Target): Promise<void> {
      socket.on('error', () => socket.destroy());
      const end = (status: number): void =>
        void socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? 'Refused'}\r\nconnection: close\r\n\r\n`);
      const to = await onward(request, target, { socket: true }).catch((error: unknown) => refusal(error));
      if (!to || 'message' in to) return end((to ?? (await absence(target.agentId))).status);
      if (socket.destroyed) return;
      track(connections, target.agentId, to.known, socket, () => socket.destroy());
      const outgoing = send({ ...to.options, headers: { ...to.options.headers, ...switchHeaders(request) } });
      socket.once('close', () => outgoing.destroy());
      const answered = answerTo(outgoing, SWITCH_MS);
      outgoing.end();
      try {
        const { incoming, switched } = await answered;
        if (!switched) {
          outgoing.destroy();
          return end(answeredHead(incoming).status);
        }
        join(socket, head, switched, switchedHead(incoming, offered(request)));
      } catch (error) {
        outgoing.destroy();
        end(error instanceof RelayError ? refusal(error).status : NOT_RUNNING.status);
      }
    },

    cut: connections.cut,
    disconnect: async (): Promise<void> => connections.close(),
  };
}

/** Two ends of one WebSocket; when one goes, so does the other. */
function join(socket: Duplex, head: Buffer, { socket: far, first }: Switched, opening: string): void {
  far.on('error', () => socket.destroy());
  socket.on('close', () => far.destroy());
  socket.write(opening);
  socket.write(first);
  far.write(head);
  far.pipe(socket).pipe(far);
}

/** Ends an answer that goes on for too long. */
function bound(incoming: IncomingMessage, cut: () => void): void {
  let bytes = 0;
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MOST_BODY_BYTES) cut();
  });
}

/** A browser that offers its token as a protocol wants to hear that one was taken. */
const offered = ({ headers }: IncomingMessage): 'bearer' | undefined =>
  /^bearer, *\S+$/i.test(headers['sec-websocket-protocol'] ?? '') ? 'bearer' : undefined;

function shown({ headers }: IncomingMessage, url: URL): string | undefined {
  const own = headers['x-api-key'];
  const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? (typeof own === 'string' ? own : undefined);
  const protocol = /^bearer, *(\S+)$/i.exec(headers['sec-websocket-protocol'] ?? '')?.[1];
  return bearer ?? protocol ?? url.searchParams.get('token') ?? undefined;
}
