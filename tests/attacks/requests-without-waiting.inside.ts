import { connect } from 'node:net';
import { workerData } from 'node:worker_threads';

/** Sends requests on a few connections and waits for no answer. In a thread: what it does must not slow down who measures. */

const { port, path, connections } = workerData as { port: number; path: string; connections: number };
const request = `GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: 203.0.113.5\r\n\r\n`;
const piece = Buffer.from(request.repeat(Math.floor(65_536 / request.length)));
/** Who is cut off comes again. */
const AGAIN_MS = 100;

function open(): void {
  const socket = connect(port, '127.0.0.1');
  const go = (): void => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket
    .on('error', () => {})
    .on('connect', go)
    .on('drain', go)
    .resume();
  socket.on('close', () => setTimeout(open, AGAIN_MS));
}
for (let n = 0; n < connections; n += 1) open();
