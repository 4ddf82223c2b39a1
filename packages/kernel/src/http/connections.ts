import type { Server as HttpServer, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { countedAddress } from '../addresses.ts';
import { boundPipelining } from './pipelining.ts';
import { boundPieces } from './small-pieces.ts';

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
  /** What came so recently may have asked already, unheard while the loop is busy: its place is not taken. */
  graceMs?: number;
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
    spare: Math.ceil(total / 10),
    graceMs: GRACE_MS,
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

/** More than a loop under load takes to come round. */
const GRACE_MS = 1000;

/** What every system gives at least. */
const UNKNOWN_LIMIT = 1024;

export interface Connection {
  socket: Socket;
  address: string;
  /** The answer to its newest request, until that is over: whoever rests keeps nothing of what was asked. */
  response?: ServerResponse | undefined;
  upgraded: boolean;
  /** When it came, or last asked. */
  at: number;
}

/** Where nobody was idle it is looked so often within the grace: a flood would look through all for each that comes. */
const LOOKS = 100;

/** Connections with one bound, oldest first: those that never sent a request, and the others. */
class Group {
  readonly fresh = new Set<Connection>();
  readonly used = new Set<Connection>();
  #allBusyUntil = -Infinity;

  get size(): number {
    return this.fresh.size + this.used.size;
  }

  /**
   * The one that is missed least: the oldest without a request, or else the oldest that waits for its next one. None that
   * came or asked within the grace.
   */
  leastMissed(graceMs: number): Connection | undefined {
    const before = performance.now() - graceMs;
    for (const connection of this.fresh)
      if (connection.at <= before) return connection;
      else break;
    if (before < this.#allBusyUntil) return undefined;
    for (const connection of this.used) if (connection.at <= before && isIdle(connection)) return connection;
    this.#allBusyUntil = before + graceMs / LOOKS;
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

const CONNECTION = Symbol('the connection that an answer goes to');
type Noted = ServerResponse & { [CONNECTION]?: Connection };

/** One function for all: a new one with each would cost more. */
function letGo(this: Noted): void {
  const connection = this[CONNECTION];
  if (connection?.response === this) connection.response = undefined;
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

/** Long enough to read a refusal, and how many are waited for at least. */
const LINGER_MS = 1000;
const LINGERING = 16;

/**
 * Tells connections that there is no room. Whoever is closed while its request lies unread is reset by the system, and
 * never sees why: what it sends is read and dropped until it has closed its end. So many are waited for.
 */
function createRefusal(most: number): (socket: Socket) => false {
  let lingering = 0;
  return (socket) => {
    const close = (): void => void socket.destroy();
    socket.on('error', close).once('end', close).resume();
    if (lingering >= most) {
      socket.end(REFUSAL, close);
      return false;
    }
    lingering += 1;
    const timer = setTimeout(close, LINGER_MS);
    socket.once('close', () => {
      clearTimeout(timer);
      lingering -= 1;
    });
    socket.end(REFUSAL);
    return false;
  };
}

/** Who is connected, and who may be. */
class Admission {
  readonly #bounds: ConnectionBounds;
  readonly #refuse: (socket: Socket) => false;
  readonly #byAddress = new Map<string, Group>();
  readonly #bySocket = new WeakMap<object, Connection>();
  readonly all = new Group();
  readonly surplus = new Set<object>();

  constructor(bounds: ConnectionBounds, refuse: (socket: Socket) => false) {
    this.#bounds = bounds;
    this.#refuse = refuse;
  }

  /** False: it is not served. */
  enters(socket: Socket): boolean {
    const { total, perAddress, spare = 0, sharedBy } = this.#bounds;
    const { remoteAddress } = socket;
    if (remoteAddress === undefined) {
      socket.destroy();
      return false;
    }
    const address = sharedBy(remoteAddress) ? SHARED : countedAddress(remoteAddress);
    if (address !== SHARED && !this.#makeRoom(this.#byAddress.get(address), perAddress)) return this.#refuse(socket);
    if (!this.#makeRoom(this.all, total)) {
      if (this.surplus.size >= spare) return this.#refuse(socket);
      this.surplus.add(socket);
      socket.once('close', () => this.surplus.delete(socket));
      return true;
    }
    const connection: Connection = { socket, address, upgraded: false, at: performance.now() };
    this.#bySocket.set(socket, connection);
    this.#add(connection);
    socket.once('close', () => this.#leave(connection));
    return true;
  }

  /** It asks; undefined: it is none of those that stay. */
  use(socket: object): Connection | undefined {
    const connection = this.#bySocket.get(socket);
    if (!connection) return undefined;
    connection.at = performance.now();
    this.all.use(connection);
    this.#byAddress.get(connection.address)?.use(connection);
    return connection;
  }

  #add(connection: Connection): void {
    this.all.add(connection);
    if (connection.address !== SHARED) groupOf(this.#byAddress, connection.address).add(connection);
  }

  #leave(connection: Connection): void {
    this.all.delete(connection);
    const own = this.#byAddress.get(connection.address);
    own?.delete(connection);
    if (own?.size === 0) this.#byAddress.delete(connection.address);
  }

  /** Whether there is room now. */
  #makeRoom(group: Group | undefined, bound: number): boolean {
    if (!group || group.size < bound) return true;
    const victim = group.leastMissed(this.#bounds.graceMs ?? 0);
    if (!victim) return false;
    this.#leave(victim);
    sendAway(victim, () => {
      this.#add(victim);
      this.use(victim.socket);
    });
    return true;
  }
}

/**
 * Bounds the connections of a server. At a bound a new connection takes the place of one that asks for nothing; only when
 * all of them are at work is it refused, so holding connections open keeps nobody out.
 */
export function boundConnections(server: HttpServer, bounds: ConnectionBounds): Connections {
  const refuse = createRefusal(Math.max(bounds.spare ?? 0, LINGERING));
  const admission = new Admission(bounds, refuse);
  const { all, surplus } = admission;
  serveOnly(server, (socket) => admission.enters(socket));
  follow(server, { use: (socket) => admission.use(socket), surplus, refuse });
  boundPipelining(server);
  boundPieces(server);
  return {
    all: () => [...all.fresh, ...all.used],
    isSurplus: (socket) => surplus.size > 0 && surplus.has(socket),
  };
}

/** What it has sent meanwhile is read first: one that asked stays, and is one more than there should be. */
function sendAway(connection: Connection, stays: () => void): void {
  const { at, socket } = connection;
  // The second comes after what was there in between was read.
  setImmediate(() =>
    setImmediate(() => {
      if (connection.at === at) socket.destroy();
      else if (!socket.destroyed) stays();
    }),
  );
}

/** Whoever else listens for connections, as the reader of HTTP does, hears of those that enter. */
function serveOnly(server: HttpServer, enters: (socket: Socket) => boolean): void {
  const listeners = server.listeners('connection') as ((this: HttpServer, socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (enters(socket)) for (const listener of listeners) listener.call(server, socket);
  });
}

/** Notes what becomes of connections: a request, or something else than HTTP. */
function follow(
  server: HttpServer,
  {
    use,
    surplus,
    refuse,
  }: {
    use: (socket: object) => Connection | undefined;
    surplus: Set<object>;
    refuse: (socket: Socket) => void;
  },
): void {
  server.prependListener('request', (request, response: Noted) => {
    const connection = use(request.socket);
    if (connection) {
      connection.response = response;
      response[CONNECTION] = connection;
      response.on('close', letGo);
    } else if (surplus.has(request.socket)) response.shouldKeepAlive = false;
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
