import { lookup } from 'node:dns/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { domainAllowed } from '@troupe/domain';
import { addressAllowed, type AddressRules } from '@troupe/kernel';

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
  rules?: AddressRules;
  ports?: readonly number[];
}

const WEB_PORTS = [80, 443];
const CONNECT_MS = 10_000;

export async function createEgressProxy({
  allowedDomains,
  rules = {},
  ports = WEB_PORTS,
}: EgressOptions): Promise<EgressProxy> {
  const folder = await mkdtemp(path.join(tmpdir(), 'egress-'));
  const socketPath = path.join(folder, 's');
  const open = new Set<Duplex>();

  async function dial(host: string, port: number): Promise<net.Socket> {
    const name = host.replace(/^\[|\]$/g, '');
    if (!ports.includes(port) || !domainAllowed(name, allowedDomains))
      throw new Refused(`${name}:${port} is not allowed`);
    const found = await lookup(name, { all: true });
    const usable = found.find(({ address }) => addressAllowed(address, rules));
    if (!usable) throw new Refused(`${name} leads to an address that is not allowed`);
    const socket = net.connect({ host: usable.address, port, timeout: CONNECT_MS });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
      socket.once('timeout', () => socket.destroy(new Error('timed out')));
    });
    socket.setTimeout(0);
    return socket;
  }

  const server = http.createServer((request, response) => void forward(request, response));
  server.on('connection', (socket: net.Socket) => track(socket));
  server.on('connect', (request, client: Duplex, head: Buffer) => void tunnel(request, client, head));

  function track(socket: Duplex): void {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
  }

  async function tunnel({ url = '' }: http.IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const target = URL.canParse(`http://${url}`) ? new URL(`http://${url}`) : undefined;
    try {
      if (!target) throw new Refused('no such target');
      const upstream = await dial(target.hostname, Number(target.port || (url.endsWith(':80') ? 80 : 443)));
      track(upstream);
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.write(head);
      client.pipe(upstream).pipe(client);
      client.on('close', () => upstream.destroy());
    } catch (error) {
      client.end(
        `HTTP/1.1 ${error instanceof Refused ? '403 Forbidden' : '502 Bad Gateway'}\r\n\r\n${(error as Error).message}\n`,
      );
    }
  }

  async function forward(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    try {
      const target = URL.canParse(request.url ?? '') ? new URL(request.url ?? '') : undefined;
      if (target?.protocol !== 'http:') throw new Refused('only absolute http addresses');
      const socket = await dial(target.hostname, Number(target.port || 80));
      track(socket);
      const { 'proxy-connection': _, ...headers } = request.headers;
      const upstream = http.request({
        method: request.method,
        path: target.pathname + target.search,
        headers: { ...headers, host: target.host, connection: 'close' },
        createConnection: () => socket,
      });
      upstream.on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      upstream.on('error', () => response.destroy());
      request.pipe(upstream);
    } catch (error) {
      response.writeHead(error instanceof Refused ? 403 : 502).end(`${(error as Error).message}\n`);
    }
  }

  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  return {
    socketPath,
    async close() {
      server.close();
      for (const socket of open) socket.destroy();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

class Refused extends Error {
  override readonly name = 'Refused';
}
