import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { createServer, Server, type AddressInfo, type ListenOptions } from 'node:net';
import { listenError } from './listen-error.ts';

/** Connections that the system keeps for us while we are at something else; beyond it they are cut. */
export const BACKLOG = 4096;

/**
 * In a turn of the loop a door lets in one connection: with one door, whoever is new waits behind all who came before, for
 * as many turns as these are, also with a question that takes no time, as whether we are well.
 */
const DOORS = 64;

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

// As Node has it for HTTP.
const AS_HTTP = { allowHalfOpen: true, noDelay: true };

const doorsOf = new WeakMap<HttpServer, Server[]>();

/** Further doors of a server that listens with `reusePort`. */
export async function openDoors(server: HttpServer): Promise<void> {
  const { address, port } = server.address() as AddressInfo;
  const where: ListenOptions & { reusePort: boolean } = { host: address, port, backlog: BACKLOG, reusePort: true };
  const doors: Server[] = [];
  doorsOf.set(server, doors);
  for (let left = DOORS - 1; left > 0; left -= 1) {
    const door = createServer(AS_HTTP, (socket) => void server.emit('connection', socket));
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
  for (const door of doorsOf.get(server) ?? []) door.close();
}
