import type { Server as HttpServer, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { countedAddress } from '../addresses.ts';
import { boundPipelining } from './pipelining.ts';

/** How long the parts of a request may take. Who says nothing is not kept: it holds a descriptor that others need. */
export const REQUEST_TIMES = {
  headersTimeout: 15_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2_500,
} as const;

export interface ConnectionBounds {
  /** Of this server, whoever made them. */
  total: number;
  /** Of one address. */
  perAddress: number;
  /** Beyond that, those that get one answer, so that it can be said in words; none unless said. */
  spare?: number;
  /** Connections of these addresses are not one client's: proxies and what runs on this machine. */
  sharedBy: (address: string) => boolean;
}

/**
 * A sixth of the process's descriptors for one server: web, backend and summarizer can be one process, their calls of
 * each other and of agents elsewhere need one more each, and the rest is for the database, files and children.
 */
export function connectionBounds(
  { MAX_CONNECTIONS, MAX_CONNECTIONS_PER_ADDRESS, TRUST_PROXY }: BoundSettings,
  descriptors = descriptorLimit(),
): ConnectionBounds {
  const total = Math.max(16, Math.min(MAX_CONNECTIONS, Math.floor(descriptors / 6)));
  return {
    total,
    spare: Math.ceil(total / 4),
    perAddress: Math.min(MAX_CONNECTIONS_PER_ADDRESS, Math.ceil(total / 4)),
    // Behind a proxy every connection is the proxy's; requests are counted by client there.
    sharedBy: TRUST_PROXY > 0 ? () => true : isLoopback,
  };
}

interface BoundSettings {
  MAX_CONNECTIONS: number;
  MAX_CONNECTIONS_PER_ADDRESS: number;
  TRUST_PROXY: number;
}

export const isLoopback = (address: string): boolean =>
  /^(::ffff:)?127\.\d+\.\d+\.\d+$/i.test(address) || address === '::1';

/** Descriptors that this process may have open. */
export function descriptorLimit(): number {
  // Without it the report would look up the names of all addresses; the types do not know it yet.
  const report: typeof process.report & { excludeNetwork?: boolean } = process.report;
  const { excludeNetwork = false } = report;
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: number | 'unlimited' } } };
  report.excludeNetwork = excludeNetwork;
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : soft === 'unlimited' ? Infinity : UNKNOWN_LIMIT;
}

/** What every system gives at least. */
const UNKNOWN_LIMIT = 1024;

export interface Connection {
  socket: Socket;
  address: string;
  /** The answer to its newest request. */
  response?: ServerResponse;
  upgraded: boolean;
}

/** Connections with one bound, oldest first: those that never sent a request, and the others. */
class Group {
  readonly fresh = new Set<Connection>();
  readonly used = new Set<Connection>();

  get size(): number {
    return this.fresh.size + this.used.size;
  }

  /** The one that is missed least: the oldest without a request, or else the oldest that waits for its next one. */
  leastMissed(): Connection | undefined {
    for (const connection of this.fresh) return connection;
    for (const connection of this.used) if (isIdle(connection)) return connection;
    return undefined;
  }

  add(connection: Connection): void {
    this.fresh.add(connection);
  }

  use(connection: Connection): void {
    if (this.fresh.delete(connection)) this.used.add(connection);
  }

  delete(connection: Connection): void {
    this.fresh.delete(connection);
    this.used.delete(connection);
  }
}

// Answers on one connection go out in order: when the newest is done, all are.
export const isIdle = ({ upgraded, response }: Connection): boolean =>
  !upgraded && (response === undefined || response.writableFinished || response.destroyed);

const BUSY = JSON.stringify({ error: 'Too many connections, please try again later' });
const REFUSAL = [
  'HTTP/1.1 503 Service Unavailable',
  'content-type: application/json; charset=utf-8',
  `content-length: ${Buffer.byteLength(BUSY)}`,
  'retry-after: 5',
  'connection: close',
  '',
  BUSY,
].join('\r\n');

const refuse = (socket: Socket): void => void socket.end(REFUSAL, () => socket.destroy());

/**
 * Bounds the connections of a server. At a bound a new connection takes the place of one that asks for nothing; only when
 * all of them are at work is it refused, so holding connections open keeps nobody out.
 */
export function boundConnections(server: HttpServer, bounds: ConnectionBounds): Connections {
  const { total, perAddress, spare = 0, sharedBy } = bounds;
  const all = new Group();
  const surplus = new Set<object>();
  const byAddress = new Map<string, Group>();
  const bySocket = new WeakMap<object, Connection>();

  function leave(connection: Connection): void {
    all.delete(connection);
    const own = byAddress.get(connection.address);
    own?.delete(connection);
    if (own?.size === 0) byAddress.delete(connection.address);
  }

  /** Whether there is room now. */
  function makeRoom(group: Group | undefined, bound: number): boolean {
    if (!group || group.size < bound) return true;
    const victim = group.leastMissed();
    if (!victim) return false;
    leave(victim);
    victim.socket.destroy();
    return true;
  }

  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined) return void socket.destroy();
    const address = sharedBy(remoteAddress) ? SHARED : countedAddress(remoteAddress);
    if (address !== SHARED && !makeRoom(byAddress.get(address), perAddress)) return refuse(socket);
    if (!makeRoom(all, total)) {
      if (surplus.size >= spare) return refuse(socket);
      surplus.add(socket);
      return void socket.once('close', () => surplus.delete(socket));
    }
    const connection: Connection = { socket, address, upgraded: false };
    bySocket.set(socket, connection);
    all.add(connection);
    if (address !== SHARED) groupOf(byAddress, address).add(connection);
    socket.once('close', () => leave(connection));
  });

  const use = (socket: object): Connection | undefined => {
    const connection = bySocket.get(socket);
    if (!connection) return undefined;
    all.use(connection);
    byAddress.get(connection.address)?.use(connection);
    return connection;
  };
  follow(server, use, surplus);
  boundPipelining(server);
  return {
    all: () => [...all.fresh, ...all.used],
    isSurplus: (socket) => surplus.size > 0 && surplus.has(socket),
  };
}

/** Notes what becomes of connections: a request, or something else than HTTP. */
function follow(server: HttpServer, use: (socket: object) => Connection | undefined, surplus: Set<object>): void {
  server.prependListener('request', (request, response) => {
    const connection = use(request.socket);
    if (connection) connection.response = response;
    else if (surplus.has(request.socket)) response.shouldKeepAlive = false;
  });
  // A server without a listener answers an upgrade as any other request: one of ours would leave it without an answer.
  server.once('listening', () => {
    if (server.listenerCount('upgrade') === 0) return;
    server.prependListener('upgrade', (_request, socket) => {
      const connection = use(socket);
      if (connection) connection.upgraded = true;
      else if (surplus.has(socket)) refuse(socket as Socket);
    });
  });
}

/** What is connected to a server. */
export interface Connections {
  all: () => Connection[];
  /** Whether it came when there was no room any more. */
  isSurplus: (socket: object) => boolean;
}

/** Counts what one client has under way, where connections do not tell clients apart. */
export function boundRequests(most: number) {
  const underWay = new Map<string, number>();
  /** Counts until the answer is over; false: it is one too many. */
  return (client: string, response: ServerResponse): boolean => {
    const whom = countedAddress(client);
    const count = underWay.get(whom) ?? 0;
    if (count >= most) return false;
    underWay.set(whom, count + 1);
    response.once('close', () => {
      const left = (underWay.get(whom) ?? 1) - 1;
      if (left > 0) underWay.set(whom, left);
      else underWay.delete(whom);
    });
    return true;
  };
}

/** Of nobody in particular. */
const SHARED = '';

function groupOf(groups: Map<string, Group>, address: string): Group {
  const known = groups.get(address);
  if (known) return known;
  const made = new Group();
  groups.set(address, made);
  return made;
}
