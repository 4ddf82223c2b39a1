import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/** Sends bodies but for their last byte, and then these together. In a thread: what it does must not slow down who measures. */

const { url, path, address, authorization, body, times } = workerData as Record<string, string> & { times: number };

const head = [
  `POST ${path} HTTP/1.1`,
  `host: ${new URL(url!).host}`,
  ...(address === undefined ? [] : [`x-forwarded-for: ${address}`]),
  ...(authorization === undefined ? [] : [`authorization: ${authorization}`]),
  'content-type: application/json',
  `content-length: ${body!.length}`,
  '',
  '',
].join('\r\n');

/** Resolves with the status of the answer, or 0. */
function hold(): { socket: Socket; status: Promise<number> } {
  const { hostname, port } = new URL(url!);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.write(head);
  socket.write(body!.slice(0, -1));
  const status = once(socket, 'data').then(
    ([data]) => Number(/^HTTP\/1\.1 (\d+)/.exec(String(data))?.[1] ?? 0),
    () => 0,
  );
  return { socket, status };
}

const held = Array.from({ length: times }, hold);
await delay(3000);
for (const { socket } of held) if (socket.writable) socket.write(body!.slice(-1));
const statuses = await Promise.all(held.map(({ status }) => Promise.race([status, delay(30_000, 0)])));
for (const { socket } of held) socket.destroy();
parentPort!.postMessage(statuses);
