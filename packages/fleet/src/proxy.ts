import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import type { GatewayPrincipal } from '@troupe/agent';
import { AGENT_NOT_FOUND } from '@troupe/contract';
import { AppError, type Log } from '@troupe/kernel';
import { memberToken } from './member-tokens.ts';
import type { Registry } from './registry.ts';

/**
 * Passes requests on to an agent that lives elsewhere. Who may enter is checked here; the agent is then shown its own
 * token, so that tickets and devices' tokens open it too.
 */
export interface ProxyDeps {
  log: Log;
  /** Where the agent listens; undefined: it does not. */
  where: (agentId: string) => Promise<URL | undefined>;
  exists: (agentId: string) => Promise<boolean>;
  /** The credentials to show to the agent in place of the caller's; undefined: the caller's own. */
  credentials: (agentId: string, token: string) => Promise<{ token: string; principal: GatewayPrincipal } | undefined>;
}

interface Target {
  agentId: string;
  path: string;
}

interface Onward {
  options: http.RequestOptions;
  principal: GatewayPrincipal | undefined;
}

const send = (options: http.RequestOptions, heard?: (incoming: IncomingMessage) => void): http.ClientRequest =>
  (options.protocol === 'https:' ? https : http).request(options, heard);
const NOT_RUNNING = { status: 502, message: 'Agent is not running' };
const UNKNOWN = { status: 404, message: AGENT_NOT_FOUND };
/** Ends a stream of events of an agent that was deleted meanwhile, as the agent's own gateway would. */
const GONE = `\n\ndata: ${JSON.stringify({ error: AGENT_NOT_FOUND })}\n\ndata: [DONE]\n\n`;
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'te', 'trailer']);

export interface CredentialDeps {
  registry: Pick<Registry, 'find' | 'token'>;
  sessionSecret: string;
  verify: (agentId: string, token: string) => Promise<GatewayPrincipal | undefined>;
}

/** An owner is shown as such; everybody else who may enter is a guest there, as a member of the team is. */
export function ownCredentials({ registry, sessionSecret, verify }: CredentialDeps): ProxyDeps['credentials'] {
  return async (agentId, token) => {
    const principal = await verify(agentId, token);
    const agent = principal && (await registry.find(agentId));
    if (!agent) return undefined;
    const isOwner = principal.kind === 'owner';
    return { token: isOwner ? await registry.token(agent) : memberToken(sessionSecret, agentId), principal };
  };
}

export function createProxy({ log, where, exists, credentials }: ProxyDeps) {
  const open = new Set<{ principalId: string; cut: () => void }>();

  function track(
    principal: GatewayPrincipal | undefined,
    stream: { once: (event: 'close', done: () => void) => unknown },
    cut: () => void,
  ): void {
    if (!principal) return;
    const entry = { principalId: principal.id, cut };
    open.add(entry);
    stream.once('close', () => open.delete(entry));
  }

  async function onward(request: IncomingMessage, { agentId, path }: Target): Promise<Onward | undefined> {
    const there = await where(agentId);
    if (there === undefined) return undefined;
    const url = new URL(path, 'http://agent');
    const token = shown(request, url);
    const known = token === undefined ? undefined : await credentials(agentId, token);
    const headers = { ...request.headers, host: there.host };
    if (known) {
      headers.authorization = `Bearer ${known.token}`;
      delete headers['sec-websocket-protocol'];
      url.searchParams.delete('token');
    }
    const options = {
      protocol: there.protocol,
      host: there.hostname,
      port: there.port,
      method: request.method,
      path: url.pathname + url.search,
      headers,
    };
    return { options, principal: known?.principal };
  }

  function refusal(error: unknown): { status: number; message: string } {
    if (error instanceof AppError) return error;
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

  const refuse = (response: ServerResponse, { status, message }: typeof UNKNOWN): void => {
    if (response.headersSent) return void response.destroy();
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: message }));
  };

  const refuseAbsent = async (agentId: string, response: ServerResponse): Promise<void> =>
    refuse(response, await absence(agentId));

  return {
    async handle(request: IncomingMessage, response: ServerResponse, target: Target): Promise<void> {
      const to = await onward(request, target).catch((error: unknown) => refusal(error));
      if (!to) return refuseAbsent(target.agentId, response);
      if ('message' in to) return refuse(response, to);
      track(to.principal, response, () => response.destroy());
      await new Promise<void>((resolve) => {
        const outgoing = send(to.options, (incoming) => {
          const headers = Object.entries(incoming.headers).filter(([name]) => !HOP_BY_HOP.has(name));
          response.writeHead(incoming.statusCode ?? 502, Object.fromEntries(headers) as http.OutgoingHttpHeaders);
          incoming.pipe(response);
          incoming.on('error', () => void breakOff(target.agentId, response));
        });
        outgoing.on('error', (err) => {
          log.debug({ err, agentId: target.agentId }, 'an agent could not be reached');
          void refuseAbsent(target.agentId, response);
        });
        response.once('close', () => {
          outgoing.destroy();
          resolve();
        });
        request.pipe(outgoing);
      });
    },

    async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, target: Target): Promise<void> {
      socket.on('error', () => socket.destroy());
      const end = (status: number): void =>
        void socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nconnection: close\r\n\r\n`);
      const to = await onward(request, target).catch((error: unknown) => refusal(error));
      if (!to || 'message' in to) return end((to ?? (await absence(target.agentId))).status);
      track(to.principal, socket, () => socket.destroy());
      const outgoing = send(to.options);
      outgoing.on('upgrade', (incoming, far, first) => {
        const lines = Object.entries(incoming.headers).map(([name, value]) => `${name}: ${String(value)}`);
        socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
        socket.write(first);
        far.write(head);
        far.pipe(socket).pipe(far);
        far.on('error', () => socket.destroy());
        socket.on('close', () => far.destroy());
      });
      outgoing.on('response', (incoming) => end(incoming.statusCode ?? 502));
      outgoing.on('error', () => end(NOT_RUNNING.status));
      outgoing.end();
    },

    cut(principalId: string): void {
      for (const entry of open) if (entry.principalId === principalId) entry.cut();
    },
    async disconnect(): Promise<void> {
      for (const { cut } of open) cut();
    },
  };
}

function shown({ headers }: IncomingMessage, url: URL): string | undefined {
  const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1];
  const protocol = /^bearer, *(\S+)$/i.exec(headers['sec-websocket-protocol'] ?? '')?.[1];
  return bearer ?? protocol ?? url.searchParams.get('token') ?? undefined;
}
