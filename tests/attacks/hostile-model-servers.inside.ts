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

/** As many calls as one answer may have, each of a command line that is nothing but ends of commands. */
const COMMANDS = Array.from({ length: 64 }, (_, n) => ({
  id: `c${n}`,
  type: 'function',
  function: { name: 'shell', arguments: JSON.stringify({ cmd: ';'.repeat(1990) + n }) },
}));

function commands(asked: string, response: ServerResponse): void {
  const isOver = asked.includes('"role":"tool"');
  const message = isOver ? { content: 'over' } : { content: null, tool_calls: COMMANDS };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage }));
}

async function answer({ headers }: IncomingMessage, asked: string, response: ServerResponse): Promise<void> {
  const kind = headers.authorization?.replace('Bearer ', '');
  if (kind === 'commands') return commands(asked, response.writeHead(200, { 'content-type': 'application/json' }));
  const isWhole = kind === 'whole';
  response.writeHead(200, { 'content-type': isWhole ? 'application/json' : 'text/event-stream' });
  if (isWhole) return void response.end(WHOLE);
  if (kind === 'endless') return endless(response);
  if (kind === 'byte-by-byte') return byteByByte(response);
  response.write(CALLS);
}

const server = createServer((request, response) => {
  response.on('error', () => {});
  let asked = '';
  request.on('data', (piece: Buffer) => (asked += piece.toString()));
  request.on('end', () => void answer(request, asked, response));
});
server.listen(0, '127.0.0.1', () => parentPort!.postMessage((server.address() as AddressInfo).port));
