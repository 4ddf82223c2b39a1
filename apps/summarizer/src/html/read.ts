import { TextDecoder } from 'node:util';
import { detectCharset, SNIFF_BYTES } from './charset.ts';
import type { Scanner } from './scanner.ts';
import type { NextTurn } from './turns.ts';

/** Bytes that are scanned at once: about a millisecond of the most hostile markup. */
const PIECE_BYTES = 16_384;
/** Milliseconds after which others get their turn. */
const TURN_MS = 5;

/** Decodes a page and feeds it to a scanner, letting other work in between, until the page ends or nothing is missing. */
export async function readPage(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
  scanner: Scanner & { done?: () => boolean },
  nextTurn: NextTurn,
): Promise<void> {
  let turn = performance.now();
  let decoder: TextDecoder | undefined;
  let head: Uint8Array = new Uint8Array();

  async function scan(chunk: Uint8Array): Promise<boolean> {
    decoder ??= new TextDecoder(detectCharset(contentType, chunk));
    for (let from = 0; from < chunk.byteLength; from += PIECE_BYTES) {
      scanner.write(decoder.decode(chunk.subarray(from, from + PIECE_BYTES), { stream: true }));
      if (scanner.done?.()) return true;
      if (performance.now() - turn < TURN_MS) continue;
      await nextTurn();
      turn = performance.now();
    }
    return false;
  }

  for await (const chunk of body) {
    head = head.byteLength === 0 ? chunk : Buffer.concat([head, chunk]);
    if (!decoder && head.byteLength < SNIFF_BYTES) continue;
    if (await scan(head)) break;
    head = new Uint8Array();
  }
  if (head.byteLength > 0) await scan(head);
  scanner.write(decoder?.decode() ?? '');
  scanner.end();
}
