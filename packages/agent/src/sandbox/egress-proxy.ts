import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { domainAllowed } from '@troupe/domain';
import {
  addressAllowed,
  answerTo,
  boundPieces,
  boundPipelining,
  createResolve,
  isHopByHop,
  MOST_HEAD_BYTES,
  relayedHead,
  RelayError,
  rulesFor,
  systemResolve,
  type AddressRules,
} from '@troupe/kernel';

/**
 * The only way out of a sandbox: an HTTP proxy on a Unix socket that connects to the allowed domains alone, on the web's
 * ports, and never to a private address, whatever a name resolves to.
 */

export interface EgressProxy {
  socketPath: string;
  close: () => Promise<void>;
}

export interface EgressOptions {
  allowedDomains: readonly string[];
  /** Every domain, whatever the list says; addresses and ports are bounded all the same. */
  anyDomain?: boolean;
  rules?: AddressRules;
  ports?: readonly number[];
}

const WEB_PORTS = [80, 443];
const CONNECT_MS = 10_000;
const HEAD_MS = 120_000;
/** Each takes two descriptors of the platform. */
const MOST_CONNECTIONS = 64;

/** Requests a second, after as many at once: a command asks as fast as it can, and the loop that answers serves everybody. */
const PER_SECOND = 200;

/** Settles when the next one may be looked at. */
function createPace(): () => Promise<void> {
  let next = 0;
  return async () => {
    const now = performance.now();
    next = Math.max(next, now - 1000) + 1000 / PER_SECOND;
    if (next > now) await delay(next - now);
  };
}

/** Connects to what may be reached, and says why not to all else. */
function createDial({ allowedDomains, anyDomain, rules, ports }: Required<EgressOptions>) {
  const outside = createResolve();
  const find = (name: string) => (rulesFor(rules, name).allowPrivate ? systemResolve(name) : outside(name));
  return async (host: string, port: number): Promise<net.Socket> => {
    const name = host.replace(/^\[|\]$/g, '');
    const own = rulesFor(rules, name, port);
    // A host that the operator named may listen anywhere.
    if ((!ports.includes(port) && own === rules) || !(anyDomain || domainAllowed(name, allowedDomains)))
      throw new Refused(`${name}:${port} is not allowed`);
    const found = await find(name);
    const usable = found.find(({ address }) => addressAllowed(address, own, { port }));
    if (!usable) throw new Refused(`${name} leads to an address that is not allowed`);
    const socket = net.connect({ host: usable.address, port, timeout: CONNECT_MS });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
      socket.once('timeout', () => socket.destroy(new Error('timed out')));
    });
    socket.setTimeout(0);
    return socket;
  };
}

/** A connection to the outside that ends with the proxy. */
type Reach = (host: string, port: number) => Promise<net.Socket>;

async function tunnel(reach: Reach, { url = '' }: http.IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
  const target = URL.canParse(`http://${url}`) ? new URL(`http://${url}`) : undefined;
  try {
    if (!target) throw new Refused('no such target');
    const upstream = await reach(target.hostname, Number(target.port || (url.endsWith(':80') ? 80 : 443)));
    // It may have left meanwhile, and would not be heard leaving.
    if (client.destroyed) return void upstream.destroy();
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    upstream.write(head);
    client.pipe(upstream).pipe(client);
    client.on('close', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
  } catch (error) {
    const { status, text } = refusal(error);
    client.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nconnection: close\r\n\r\n${text}\n`);
  }
}

async function forward(reach: Reach, request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  try {
    const target = URL.canParse(request.url ?? '') ? new URL(request.url ?? '') : undefined;
    if (target?.protocol !== 'http:') throw new Refused('only absolute http addresses');
    const socket = await reach(target.hostname, Number(target.port || 80));
    if (response.destroyed) return void socket.destroy();
    response.once('close', () => socket.destroy());
    const headers = Object.entries(request.headers).filter(([name]) => !isHopByHop(name));
    const upstream = http.request({
      method: request.method,
      path: target.pathname + target.search,
      headers: { ...Object.fromEntries(headers), host: target.host, connection: 'close' },
      createConnection: () => socket,
      maxHeaderSize: MOST_HEAD_BYTES,
    });
    const answered = answerTo(upstream, HEAD_MS);
    request.pipe(upstream);
    const { incoming, switched } = await answered;
    if (switched) throw new RelayError('The other side switched to another protocol');
    const head = relayedHead(incoming, (name) => !isHopByHop(name));
    response.writeHead(head.status, head.headers);
    incoming.on('error', () => response.destroy());
    incoming.pipe(response);
  } catch (error) {
    refuse(response, error);
  }
}

function refuse(response: http.ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const { status, text } = refusal(error);
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${text}\n`);
}

export async function createEgressProxy({
  allowedDomains,
  anyDomain = false,
  rules = {},
  ports = WEB_PORTS,
}: EgressOptions): Promise<EgressProxy> {
  const folder = await mkdtemp(path.join(tmpdir(), 'egress-'));
  const socketPath = path.join(folder, 's');
  const open = new Set<Duplex>();
  const dial = createDial({ allowedDomains, anyDomain, rules, ports });
  const pace = createPace();

  function track(socket: Duplex): void {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
  }

  const reach: Reach = async (host, port) => {
    const socket = await dial(host, port);
    track(socket);
    return socket;
  };

  const server = http.createServer((request, response) => void pace().then(() => forward(reach, request, response)));
  server.maxConnections = MOST_CONNECTIONS;
  server.on('connection', (socket: net.Socket) => track(socket));
  server.on(
    'connect',
    (request, client: Duplex, head: Buffer) => void pace().then(() => tunnel(reach, request, client, head)),
  );
  boundPipelining(server);
  boundPieces(server);

  // Exclusive: also where several processes share a port, this one is nobody else's.
  await new Promise<void>((resolve) => server.listen({ path: socketPath, exclusive: true }, resolve));
  return {
    socketPath,
    async close() {
      server.close();
      for (const socket of open) socket.destroy();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What the command is told: a refusal of ours and a fault of the other side in words, a broken connection as it broke. */
function refusal(error: unknown): { status: 403 | 502; text: string } {
  return { status: error instanceof Refused ? 403 : 502, text: (error as Error).message };
}

class Refused extends Error {
  override readonly name = 'Refused';
}
