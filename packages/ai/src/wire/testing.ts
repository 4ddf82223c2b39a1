import { crc32 } from 'node:zlib';
import { createEventReader } from '@troupe/contract';
import fc from 'fast-check';
import type { Wire } from '../provider.ts';
import type { AssistantMessage, ChatResult, ToolCall } from '../types.ts';

/** Streams as they come over the wire, and what was meant by them, for tests of what is translated. */

/** Where a stream is cut, as shares of its length. */
export const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { maxLength: 6 });

export function chunksOf<B extends Uint8Array>(bytes: B, where: readonly number[]): B[] {
  const places = [...new Set(where.map((cut) => Math.floor(cut * bytes.length)))].toSorted((a, b) => a - b);
  return [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length) as B);
}

export const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** What counts of an answer. */
export const meaning = ({ message, finishReason, usage }: Pick<ChatResult, 'message' | 'finishReason' | 'usage'>) => {
  const { content, tool_calls: calls = [], thoughts = [] } = message;
  return plain({ content: content ?? '', calls, thoughts, finishReason, usage });
};

export function collect(wire: Wire, bytes: Uint8Array, where: readonly number[]) {
  const events = createEventReader();
  const reader = wire.streamReader();
  const data = [...chunksOf(bytes, where).flatMap((chunk) => events.push(chunk)), ...events.end()];
  const message: AssistantMessage = { role: 'assistant', content: '' };
  let [finishReason, usage]: [unknown, unknown] = [undefined, undefined];
  const calls: ToolCall[] = [];
  const thoughts: Record<number, Record<string, unknown>> = {};
  for (const one of data) {
    const delta = reader.read(one.data);
    message.content += delta?.content ?? '';
    for (const { index, id, function: part } of delta?.toolCalls ?? []) {
      const call = (calls[index] ??= { id: id ?? '', type: 'function', function: { name: '', arguments: '' } });
      call.function.name += part?.name ?? '';
      call.function.arguments += part?.arguments ?? '';
    }
    for (const { index, ...piece } of delta?.thoughts ?? []) {
      const thought = (thoughts[index] ??= { text: '' });
      thought['text'] += piece.text ?? '';
      if (piece.signature !== undefined) thought['signature'] = piece.signature;
      if (piece.redacted !== undefined) thought['redacted'] = piece.redacted;
    }
    finishReason = delta?.finishReason ?? finishReason;
    usage = delta?.usage ?? usage;
  }
  return {
    complete: reader.complete(),
    meaning: plain({ content: message.content, calls, thoughts: Object.values(thoughts), finishReason, usage }),
  };
}

/** An event as Amazon sends it. */
export function amazonFrame(type: string, payload: object, kind = 'event'): Buffer {
  const header = (name: string, value: string): Buffer => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(Buffer.byteLength(value));
    return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), length, Buffer.from(value)]);
  };
  const headers = Buffer.concat([
    header(kind === 'event' ? ':event-type' : ':exception-type', type),
    header(':content-type', 'application/json'),
    header(':message-type', kind),
  ]);
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(12 + headers.length + body.length + 4, 0);
  prelude.writeUInt32BE(headers.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const whole = Buffer.concat([prelude, headers, body]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(whole));
  return Buffer.concat([whole, sum]);
}
