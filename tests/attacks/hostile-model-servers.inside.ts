import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';

/** A model server that answers as the key says. In a thread: what it does must not slow down who measures. */

const event = (delta: string): string => `data: {"choices":[{"index":0,"delta":${delta}}]}\n\n`;
const WORDS = Buffer.from(event(`{"content":"${'x'.repeat(1000)}"}`).repeat(60));
const CALLS = Buffer.from(event(`{"tool_calls":[${'{},'.repeat(1_300_000)}{}]}`));
const LINE = `data: {"choices":[{"index":0,"delta":{"content":"${'x'.repeat(4_000_000)}`;
const WHOLE = Buffer.from(`{"choices":[{"message":{"tool_calls":[${'{},'.repeat(5_000_000)}{}]}}]}`);

async function endless(response: ServerResponse): Promise<void> {
  while (!response.destroyed) {
    if (!response.write(WORDS)) await Promise.race([new Promise((go) => response.once('drain', go)), delay(1000)]);
  }
}

async function byteByByte(response: ServerResponse): Promise<void> {
  response.socket?.setNoDelay(true);
  response.write(LINE);
  while (!response.destroyed) {
    response.write('x');
    await delay(1);
  }
}

async function answer({ headers }: IncomingMessage, response: ServerResponse): Promise<void> {
  const kind = headers.authorization?.replace('Bearer ', '');
  const isWhole = kind === 'whole';
  response.writeHead(200, { 'content-type': isWhole ? 'application/json' : 'text/event-stream' });
  if (isWhole) return void response.end(WHOLE);
  if (kind === 'endless') return endless(response);
  if (kind === 'byte-by-byte') return byteByByte(response);
  response.write(CALLS);
}

const server = createServer((request, response) => {
  response.on('error', () => {});
  request.resume().on('end', () => void answer(request, response));
});
server.listen(0, '127.0.0.1', () => parentPort!.postMessage((server.address() as AddressInfo).port));
