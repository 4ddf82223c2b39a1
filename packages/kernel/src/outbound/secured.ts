import { isIP, type Socket } from 'node:net';
import { connect } from 'node:tls';
import { OutboundError } from './errors.ts';

/** The connection under TLS, with a certificate that is the host's own. */
export function secured(socket: Socket, host: string, timeout = 10_000): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const over = connect({ socket, host, ...(isIP(host) === 0 && { servername: host }) });
    const fail = (cause: unknown, message = 'The server’s TLS certificate or handshake is not valid'): void => {
      clearTimeout(timer);
      over.destroy();
      socket.destroy();
      reject(new OutboundError('network', { cause, message }));
    };
    const timer = setTimeout(() => fail(undefined, 'The server did not begin TLS in time'), timeout);
    over.once('error', fail);
    const onClose = (): void => fail(undefined);
    over.once('close', onClose);
    over.once('secureConnect', () => {
      clearTimeout(timer);
      over.off('close', onClose).off('error', fail);
      resolve(over);
    });
  });
}
