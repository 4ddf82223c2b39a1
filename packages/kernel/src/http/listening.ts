import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { createServer, Server, type AddressInfo, type ListenOptions, type Socket } from 'node:net';
import { Linked } from '../linked.ts';
import { listenError } from './listen-error.ts';

/** Connections that the system keeps for us while we are at something else; beyond it they are cut. */
export const BACKLOG = 4096;

/**
 * In a turn of the loop a door lets in one connection: with one door, whoever is new waits behind all who came before, for
 * as many turns as these are, also with a question that takes no time, as whether we are well.
 */
const DOORS = 64;
/** All who come together would be begun in one turn, and whoever is at work would wait for them: so many are begun in a turn. */
const AT_ONCE = 4;
/** Beyond it more come than can be worked for: they are begun, so that whoever is one too many can be told so. */
const MOST_WAITING = 128;

/** Whether the system shares connections out between doors. */
export const canShare = process.platform === 'linux';

/** Nobody else may be there: those who share a port do not notice it themselves. Without a number it is any free one. */
export async function freePort(host: string, wanted: number, setting: string): Promise<number> {
  const probe = createServer();
  try {
    probe.listen({ host, port: wanted, exclusive: true });
    await once(probe, 'listening');
    return (probe.address() as AddressInfo).port;
  } catch (error) {
    throw listenError(error, host, wanted, setting);
  } finally {
    probe.close();
  }
}

/** Those who have come in by a door and wait until they are begun, in the order of coming. Nothing of them is read yet. */
class Hall {
  readonly #waiting = new Linked<Socket>();
  readonly #begin: (socket: Socket) => void;

  constructor(begin: (socket: Socket) => void) {
    this.#begin = begin;
  }

  enter(socket: Socket): void {
    this.#waiting.add(socket);
    if (this.#waiting.size === 1) setImmediate(this.#turn);
  }

  /** All who wait. */
  empty(): void {
    this.#take(this.#waiting.size);
  }

  readonly #turn = (): void => {
    const { size } = this.#waiting;
    this.#take(size > MOST_WAITING ? size : Math.min(size, AT_ONCE));
    if (this.#waiting.size > 0) setImmediate(this.#turn);
  };

  #take(count: number): void {
    for (let left = count; left > 0; left -= 1) this.#begin(this.#waiting.shift()!);
  }
}

// As Node has it for HTTP, but for the reading.
const AS_HTTP = { allowHalfOpen: true, noDelay: true, pauseOnConnect: true };

const doorsOf = new WeakMap<HttpServer, { doors: Server[]; hall: Hall }>();

/** Further doors of a server that listens with `reusePort`. */
export async function openDoors(server: HttpServer): Promise<void> {
  const { address, port } = server.address() as AddressInfo;
  const where: ListenOptions & { reusePort: boolean } = { host: address, port, backlog: BACKLOG, reusePort: true };
  const doors: Server[] = [];
  const hall = new Hall((socket) => {
    server.emit('connection', socket);
    socket.resume();
  });
  doorsOf.set(server, { doors, hall });
  for (let left = DOORS - 1; left > 0; left -= 1) {
    const door = createServer(AS_HTTP, (socket) => hall.enter(socket));
    doors.push(door);
    door.listen(where);
    await once(door, 'listening');
    door.on('error', (error) => void server.emit('error', error));
  }
}

/** Takes nobody new; who is in stays. */
export function closeDoors(server: HttpServer): void {
  // Of the socket alone: an HTTP server that is closed cuts whoever is idle.
  if (server.listening) Server.prototype.close.call(server);
  const { doors = [], hall } = doorsOf.get(server) ?? {};
  for (const door of doors) door.close();
  hall?.empty();
}
