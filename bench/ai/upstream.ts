import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** The provider of the bench: answers at once with fixed bytes, on bare sockets, so that it costs next to nothing. */

/** It may take its time, as a model does. */
const WAIT_MS = Number(process.env['MODEL_MS'] ?? 0);

const WORDS = 'A short answer of a few words that comes in twelve small pieces.'.split(' ');

const json = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: WORDS.join(' ') }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 24, completion_tokens: 16, total_tokens: 40 },
});
const whole = (text: string): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\nconnection: keep-alive\r\n\r\n${text}`;
const WHOLE = whole(json);

const vector = Buffer.from(Float32Array.from({ length: 1536 }, (_, n) => Math.sin(n) / 40).buffer).toString('base64');
/** What differs by the path. */
const OTHERS: Readonly<Record<string, string>> = {
  '/v1/embeddings': whole(
    JSON.stringify({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: vector }],
      model: 'text-embedding-3-small',
      usage: { prompt_tokens: 12, total_tokens: 12 },
    }),
  ),
};

const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: keep-alive\r\n\r\n';
const chunked = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const event = (choices: object[], more: object = {}): string =>
  chunked(
    `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini', choices, ...more })}\n\n`,
  );
const PIECES = [
  ...WORDS.map((word) => event([{ index: 0, delta: { role: 'assistant', content: `${word} ` }, finish_reason: null }])),
  event([{ index: 0, delta: {}, finish_reason: 'stop' }]),
  event([], { usage: { prompt_tokens: 24, completion_tokens: 16, total_tokens: 40 } }),
  `${chunked('data: [DONE]\n\n')}0\r\n\r\n`,
];

/** Piece by piece, each in a turn of its own, as a model would. */
function stream(socket: Socket): void {
  socket.write(STREAM_HEAD + PIECES[0]);
  let index = 1;
  const more = (): void => {
    if (index >= PIECES.length || socket.destroyed) return;
    socket.write(PIECES[index]!);
    index += 1;
    setImmediate(more);
  };
  setImmediate(more);
}

const server = createServer({ noDelay: true }, (socket) => {
  let buffered = '';
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    buffered += chunk.toString('latin1');
    for (;;) {
      const end = buffered.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(/content-length: *(\d+)/i.exec(buffered.slice(0, end))?.[1] ?? 0);
      if (buffered.length < end + 4 + length) {
        // Without a length the body is chunked: complete at its last chunk.
        return;
      }
      const isChunked = /transfer-encoding: *chunked/i.test(buffered.slice(0, end));
      const last = isChunked ? buffered.indexOf('0\r\n\r\n', end) : 0;
      if (isChunked && last < 0) return;
      const total = isChunked ? last + 5 : end + 4 + length;
      const path = buffered.slice(0, end).split(' ', 2)[1] ?? '';
      const isStream = buffered.slice(end + 4, total).includes('"stream":true');
      buffered = buffered.slice(total);
      const answer = (): void => {
        if (isStream) stream(socket);
        else if (!socket.destroyed) socket.write(OTHERS[path] ?? WHOLE);
      };
      if (WAIT_MS > 0) setTimeout(answer, WAIT_MS);
      else answer();
    }
  });
});

server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
});
process.on('SIGTERM', () => process.exit(0));
