import { crc32 } from 'node:zlib';
import { parseAnswer } from '@troupe/kernel';
import { Unusable } from '../provider.ts';

/**
 * Amazon's binary stream of events: the lengths of the whole and of the headers, a checksum over both, headers, payload,
 * and a checksum over all. Each is given as JSON of its payload, with what the headers call it as `type`.
 */

const PRELUDE = 12;
const CHECKSUM = 4;
/** No event of a model is near it. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Bytes that a header's value takes, by the number of its type; texts and bytes say their length first. */
const SIZES = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16] as const;
const TEXT = 7;

function headersOf(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>();
  for (let at = 0; at < bytes.length;) {
    const nameEnd = at + 1 + bytes.readUInt8(at);
    const name = bytes.toString('utf8', at + 1, nameEnd);
    const type = bytes.readUInt8(nameEnd);
    const fixed = SIZES[type];
    const start = nameEnd + (fixed === undefined ? 3 : 1);
    const size = fixed ?? bytes.readUInt16BE(nameEnd + 1);
    if (type >= SIZES.length || start + size > bytes.length) throw new Unusable('an event has a broken header');
    if (type === TEXT) headers.set(name, bytes.toString('utf8', start, start + size));
    at = start + size;
  }
  return headers;
}

function eventOf(frame: Buffer): { data: string } {
  const end = frame.length - CHECKSUM;
  if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end)) throw new Unusable('an event is damaged');
  const headersEnd = PRELUDE + frame.readUInt32BE(4);
  if (headersEnd > end) throw new Unusable('an event has a broken header');
  const headers = headersOf(frame.subarray(PRELUDE, headersEnd));
  const payload: unknown = parseAnswer(frame.toString('utf8', headersEnd, end) || '{}');
  const kind = headers.get(':message-type');
  if (kind === 'event') return { data: JSON.stringify({ ...(payload as object), type: headers.get(':event-type') }) };
  const name = headers.get(':exception-type') ?? headers.get(':error-code') ?? 'error';
  const message = (payload as { message?: unknown } | null)?.message ?? headers.get(':error-message') ?? '';
  throw new Unusable(`${name}: ${String(message)}`);
}

export function createAmazonEvents() {
  let rest: Buffer = Buffer.alloc(0);
  /** What came since, while the event is not complete: it is put together once, however small the pieces are. */
  let pieces: Buffer[] = [];
  let missing = 0;

  function* frames(): Generator<{ data: string }> {
    while (rest.length >= PRELUDE) {
      const size = rest.readUInt32BE(0);
      if (crc32(rest.subarray(0, 8)) !== rest.readUInt32BE(8)) throw new Unusable('the stream is no stream of events');
      if (size > MOST_BYTES || size < PRELUDE + CHECKSUM) throw new Unusable(`an event has ${size} bytes`);
      if (rest.length < size) {
        missing = size - rest.length;
        return;
      }
      const frame = rest.subarray(0, size);
      rest = rest.subarray(size);
      yield eventOf(frame);
    }
  }

  return {
    push(bytes: Buffer): { data: string }[] {
      pieces.push(bytes);
      missing -= bytes.length;
      if (missing > 0) return [];
      rest = Buffer.concat([rest, ...pieces]);
      pieces = [];
      missing = 0;
      return [...frames()];
    },
    /** What is left is half an event, and the answer is then not complete. */
    end: (): { data: string }[] => [],
  };
}
