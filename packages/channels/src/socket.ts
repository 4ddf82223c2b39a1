import type { Outbound } from '@troupe/kernel';
import { WebSocket } from 'ws';

const MOST_BYTES = 8 * 1024 * 1024;
const HANDSHAKE_MS = 15_000;

/** A WebSocket to a service, under the rules for everything that is reached from here. Events may come at once. */
export async function openSocket(outbound: Outbound, address: string): Promise<WebSocket> {
  const url = new URL(address);
  const isTls = url.protocol === 'wss:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const under = await outbound.connect({ host, port: Number(url.port) || (isTls ? 443 : 80), tls: isTls });
  const options = { maxPayload: MOST_BYTES, handshakeTimeout: HANDSHAKE_MS, createConnection: () => under };
  const socket = new WebSocket(url, options);
  // Every error closes it, and that is what is waited for.
  socket.on('error', () => {});
  return socket;
}
