/** Spans as OTLP wants them: protocol buffers, written by hand, because of the whole definition these few fields are used. */

type Value = string | number | boolean | readonly string[];

export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string | undefined;
  name: string;
  kind: 'internal' | 'client';
  /** Milliseconds since 1970. */
  start: number;
  end: number;
  /** What is undefined is left out. */
  attributes: Readonly<Record<string, Value | undefined>>;
  /** What went wrong, in a word. */
  error?: string | undefined;
}

export interface Resource {
  attributes: Readonly<Record<string, Value | undefined>>;
  scope: { name: string; version: string };
}

const KINDS = { internal: 1, client: 3 } as const;
const ERROR = 2;

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, BigInt(value));
  for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128);
  bytes.push(Number(left));
  return Buffer.from(bytes);
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const tag = (field: number, type: number): Buffer => varint((field << 3) | type);

function bytes(field: number, content: Buffer | string): Buffer {
  const given = typeof content === 'string' ? Buffer.from(content) : content;
  return Buffer.concat([tag(field, BYTES), varint(given.length), given]);
}

const number = (field: number, value: number): Buffer => Buffer.concat([tag(field, VARINT), varint(value)]);

function nanoseconds(field: number, ms: number): Buffer {
  const value = Buffer.alloc(8);
  value.writeBigUInt64LE(BigInt(Math.round(ms * 1000)) * 1000n);
  return Buffer.concat([tag(field, FIXED64), value]);
}

function double(field: number, given: number): Buffer {
  const value = Buffer.alloc(8);
  value.writeDoubleLE(given);
  return Buffer.concat([tag(field, FIXED64), value]);
}

function anyValue(value: Value): Buffer {
  if (typeof value === 'string') return bytes(1, value.toWellFormed());
  if (typeof value === 'boolean') return number(2, value ? 1 : 0);
  if (typeof value === 'number') return Number.isSafeInteger(value) ? number(3, value) : double(4, value);
  return bytes(5, Buffer.concat(value.map((item) => bytes(1, anyValue(item)))));
}

const attributes = (field: number, given: Resource['attributes']): Buffer =>
  Buffer.concat(
    Object.entries(given).flatMap(([key, value]) =>
      value === undefined ? [] : [bytes(field, Buffer.concat([bytes(1, key), bytes(2, anyValue(value))]))],
    ),
  );

function spanBytes(span: Span): Buffer {
  const { traceId, spanId, parentSpanId, name, kind, start, end, error } = span;
  return Buffer.concat([
    bytes(1, Buffer.from(traceId, 'hex')),
    bytes(2, Buffer.from(spanId, 'hex')),
    ...(parentSpanId === undefined ? [] : [bytes(4, Buffer.from(parentSpanId, 'hex'))]),
    bytes(5, name.toWellFormed()),
    number(6, KINDS[kind]),
    nanoseconds(7, start),
    nanoseconds(8, end),
    attributes(9, span.attributes),
    ...(error === undefined ? [] : [bytes(15, number(3, ERROR))]),
  ]);
}

/** An ExportTraceServiceRequest. */
export function traceRequest({ attributes: about, scope }: Resource, spans: readonly Span[]): Buffer {
  const scoped = Buffer.concat([
    bytes(1, Buffer.concat([bytes(1, scope.name), bytes(2, scope.version)])),
    ...spans.map((span) => bytes(2, spanBytes(span))),
  ]);
  return bytes(1, Buffer.concat([bytes(1, attributes(1, about)), bytes(2, scoped)]));
}
