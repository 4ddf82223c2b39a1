import { pipeline, type Duplex } from 'node:stream';
import * as zlib from 'node:zlib';
import { OutboundError } from './errors.ts';

export type Bytes = AsyncIterable<Uint8Array>;

/** More layers than this are nobody's honest answer. */
const MAX_LAYERS = 2;

export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

// A cut-off stream gives what it has, as browsers do.
const lenient = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH };
const brotli = {
  flush: zlib.constants.BROTLI_OPERATION_FLUSH,
  finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH,
};

const CODINGS: Readonly<Record<string, (firstByte: number) => Duplex>> = {
  gzip: () => zlib.createGunzip(lenient),
  'x-gzip': () => zlib.createGunzip(lenient),
  br: () => zlib.createBrotliDecompress(brotli),
  // Servers send it with and without the zlib header: the first byte tells.
  deflate: (firstByte) => ((firstByte & 0x0f) === 0x08 ? zlib.createInflate(lenient) : zlib.createInflateRaw(lenient)),
};

/** Undoes a Content-Encoding. Neither what comes in nor what any layer gives may exceed `max` bytes. */
export function decoded(source: Bytes, contentEncoding: string | undefined, max: number): Bytes {
  const codings = (contentEncoding ?? '')
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > MAX_LAYERS || codings.some((coding) => !Object.hasOwn(CODINGS, coding))) {
    throw new OutboundError('network', { message: 'Response has an unsupported content encoding' });
  }
  let bytes = capped(source, max);
  for (const coding of codings.reverse()) bytes = capped(unpacked(bytes, coding), max);
  return bytes;
}

async function* capped(source: Bytes, max: number): AsyncGenerator<Uint8Array> {
  let seen = 0;
  for await (const chunk of source) {
    seen += chunk.byteLength;
    if (seen > max) throw new OutboundError('too_large');
    yield chunk;
  }
}

async function* unpacked(source: Bytes, coding: string): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done) return;
  async function* all() {
    yield first.value as Uint8Array;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  const stream = CODINGS[coding]?.(first.value[0] ?? 0) as Duplex;
  // A failure of either side ends the stream with that error, which the loop below throws.
  pipeline(all, stream, () => {});
  yield* stream as Bytes;
}
