import { writeNewId } from './ids.ts';

/** Spans as OTLP wants them: protocol buffers, written by hand, because of the whole definition these few fields are used. */

type Value = string | number | boolean | readonly string[];
type Attributes = Readonly<Record<string, Value | undefined>>;

export interface Span {
  /** Without them it is a trace of its own. */
  traceId?: string | undefined;
  spanId?: string | undefined;
  parentSpanId?: string | undefined;
  name: string;
  kind: 'internal' | 'client';
  /** Milliseconds since 1970. */
  start: number;
  end: number;
  /** What is undefined is left out. */
  attributes: Attributes;
  /** What many of them have alike, written once. */
  shared?: Uint8Array | undefined;
  /** What went wrong, in a word. */
  error?: string | undefined;
}

export interface Resource {
  attributes: Attributes;
  scope: { name: string; version: string };
}

const KINDS = { internal: 1, client: 3 } as const;
const ERROR = 2;

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIRST_BYTES = 262_144;
const SHARED_BYTES = 4096;
/** Bytes. */
const TRACE_ID = 16;
const SPAN_ID = 8;
/** The field of a span in which its attributes are. */
const ATTRIBUTES = 9;
/** What the operators for bits can do. */
const MOST_BITS = 2 ** 31 - 1;
const HALF = 2 ** 32;

/**
 * Writes from the end to the beginning: what is inside of something comes before its length, so that nothing is copied.
 * Of spans there are as many as calls, and each has some twenty fields: they are written without an object for any of them.
 */
class Writer {
  #buffer: Buffer;
  #at: number;

  constructor(bytes: number) {
    this.#buffer = Buffer.allocUnsafe(bytes);
    this.#at = bytes;
  }

  /** How many bytes there are. */
  get size(): number {
    return this.#buffer.length - this.#at;
  }

  /** All of it, as bytes of their own; there is nothing here any more. */
  take(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#buffer.subarray(this.#at));
    this.#at = this.#buffer.length;
    return bytes;
  }

  #room(bytes: number): void {
    if (this.#at >= bytes) return;
    const wider = Buffer.allocUnsafe(2 * (this.#buffer.length + bytes));
    const at = wider.length - this.size;
    this.#buffer.copy(wider, at, this.#at);
    this.#buffer = wider;
    this.#at = at;
  }

  varint(value: number): void {
    this.#room(10);
    if (value < 0 || value > MOST_BITS) return this.#long(BigInt.asUintN(64, BigInt(value)));
    let at = (this.#at -= value < 128 ? 1 : value < 16_384 ? 2 : value < 2_097_152 ? 3 : value < 268_435_456 ? 4 : 5);
    let left = value;
    for (; left > 127; left >>>= 7) this.#buffer[at++] = (left & 127) | 128;
    this.#buffer[at] = left;
  }

  #long(value: bigint): void {
    const bytes: number[] = [];
    let left = value;
    for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128);
    bytes.push(Number(left));
    this.#at -= bytes.length;
    this.#buffer.set(bytes, this.#at);
  }

  #tag(field: number, type: number): void {
    this.varint((field << 3) | type);
  }

  /** Most texts are short and plain: a call to write them costs more than their characters do. */
  #plain(content: string): boolean {
    const { length } = content;
    if (length > 256) return false;
    this.#room(length);
    const at = this.#at - length;
    for (let n = 0; n < length; n += 1) {
      const code = content.charCodeAt(n);
      if (code > 127) return false;
      this.#buffer[at + n] = code;
    }
    this.#at = at;
    return true;
  }

  text(field: number, content: string): void {
    const before = this.size;
    if (!this.#plain(content)) {
      const whole = content.toWellFormed();
      const length = Buffer.byteLength(whole);
      this.#room(length);
      this.#at -= length;
      this.#buffer.write(whole, this.#at, length);
    }
    this.end(field, before);
  }

  /** Fields that were written before. */
  fields(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#buffer.set(bytes, (this.#at -= bytes.length));
  }

  /** Without one it is a new one. */
  id(field: number, length: number, content: string | undefined): void {
    this.#room(length);
    this.#at -= length;
    if (content === undefined) writeNewId(this.#buffer, this.#at, length);
    else this.#buffer.write(content, this.#at, length, 'hex');
    this.varint(length);
    this.#tag(field, BYTES);
  }

  /** What was written since there were `before` bytes is one field. */
  end(field: number, before: number): void {
    this.varint(this.size - before);
    this.#tag(field, BYTES);
  }

  number(field: number, value: number): void {
    this.varint(value);
    this.#tag(field, VARINT);
  }

  double(field: number, value: number): void {
    this.#room(8);
    this.#buffer.writeDoubleLE(value, (this.#at -= 8));
    this.#tag(field, FIXED64);
  }

  /** More than a number holds exactly: by halves. */
  nanoseconds(field: number, ms: number): void {
    this.#room(8);
    const micros = Math.round(ms * 1000);
    const low = (micros % HALF) * 1000;
    this.#buffer.writeUInt32LE(Math.floor(micros / HALF) * 1000 + Math.floor(low / HALF), (this.#at -= 4));
    this.#buffer.writeUInt32LE(low % HALF, (this.#at -= 4));
    this.#tag(field, FIXED64);
  }
}

function anyValue(out: Writer, value: Value): void {
  if (typeof value === 'string') out.text(1, value);
  else if (typeof value === 'boolean') out.number(2, value ? 1 : 0);
  else if (typeof value !== 'number') {
    const before = out.size;
    for (let n = value.length - 1; n >= 0; n -= 1) {
      const item = out.size;
      anyValue(out, value[n]!);
      out.end(1, item);
    }
    out.end(5, before);
  } else if (Number.isSafeInteger(value)) out.number(3, value);
  else out.double(4, value);
}

/** Their order says nothing. */
function attributes(out: Writer, field: number, given: Attributes): void {
  for (const key in given) {
    const value = given[key];
    if (value === undefined) continue;
    const before = out.size;
    anyValue(out, value);
    out.end(2, before);
    out.text(1, key);
    out.end(field, before);
  }
}

function writeSpan(out: Writer, span: Span): void {
  const { traceId, spanId, parentSpanId, name, kind, start, end, error } = span;
  const before = out.size;
  if (error !== undefined) {
    out.number(3, ERROR);
    out.end(15, before);
  }
  attributes(out, ATTRIBUTES, span.attributes);
  if (span.shared) out.fields(span.shared);
  out.nanoseconds(8, end);
  out.nanoseconds(7, start);
  out.number(6, KINDS[kind]);
  out.text(5, name);
  if (parentSpanId !== undefined) out.id(4, SPAN_ID, parentSpanId);
  out.id(2, SPAN_ID, spanId);
  out.id(1, TRACE_ID, traceId);
  out.end(2, before);
}

/** Attributes for `shared`. */
export function sharedAttributes(given: Attributes): Uint8Array {
  const out = new Writer(SHARED_BYTES);
  attributes(out, ATTRIBUTES, given);
  return out.take();
}

/** Spans are bytes as soon as they are added: nothing of them is left to be looked after until they leave. */
export class SpanBatch {
  readonly #resource: Resource;
  readonly #out = new Writer(FIRST_BYTES);
  #spans = 0;

  constructor(resource: Resource) {
    this.#resource = resource;
  }

  get spans(): number {
    return this.#spans;
  }

  get bytes(): number {
    return this.#out.size;
  }

  add(span: Span): void {
    writeSpan(this.#out, span);
    this.#spans += 1;
  }

  /** An ExportTraceServiceRequest of all that was added since the last one. */
  take(): Uint8Array<ArrayBuffer> {
    const out = this.#out;
    const { attributes: about, scope } = this.#resource;
    const named = out.size;
    out.text(2, scope.version);
    out.text(1, scope.name);
    out.end(1, named);
    out.end(2, 0);
    const described = out.size;
    attributes(out, 1, about);
    out.end(1, described);
    out.end(1, 0);
    this.#spans = 0;
    return out.take();
  }
}
