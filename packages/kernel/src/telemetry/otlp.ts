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

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIRST_BYTES = 65_536;
/** What the operators for bits can do. */
const MOST_BITS = 2 ** 31 - 1;

/**
 * Writes from the end to the beginning: what is inside of something comes before its length, so that nothing is copied.
 * Of spans there are as many as calls, and each has some twenty fields.
 */
class Writer {
  #buffer = Buffer.allocUnsafe(FIRST_BYTES);
  #at = FIRST_BYTES;

  /** How many bytes there are. */
  get size(): number {
    return this.#buffer.length - this.#at;
  }

  done = (): Buffer => this.#buffer.subarray(this.#at);

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

  text(field: number, content: string, encoding: 'utf8' | 'hex' = 'utf8'): void {
    const length = Buffer.byteLength(content, encoding);
    this.#room(length);
    this.#at -= length;
    this.#buffer.write(content, this.#at, length, encoding);
    this.varint(length);
    this.#tag(field, BYTES);
  }

  /** What `write` writes, as one field. */
  within(field: number, write: () => void): void {
    const before = this.size;
    write();
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

  nanoseconds(field: number, ms: number): void {
    this.#room(8);
    this.#buffer.writeBigUInt64LE(BigInt(Math.round(ms * 1000)) * 1000n, (this.#at -= 8));
    this.#tag(field, FIXED64);
  }
}

function anyValue(out: Writer, value: Value): void {
  if (typeof value === 'string') out.text(1, value.toWellFormed());
  else if (typeof value === 'boolean') out.number(2, value ? 1 : 0);
  else if (typeof value !== 'number')
    out.within(5, () => {
      for (const item of value.toReversed()) out.within(1, () => anyValue(out, item));
    });
  else if (Number.isSafeInteger(value)) out.number(3, value);
  else out.double(4, value);
}

function attributes(out: Writer, field: number, given: Resource['attributes']): void {
  for (const [key, value] of Object.entries(given).reverse()) {
    if (value === undefined) continue;
    out.within(field, () => {
      out.within(2, () => anyValue(out, value));
      out.text(1, key);
    });
  }
}

function writeSpan(out: Writer, span: Span): void {
  const { traceId, spanId, parentSpanId, name, kind, start, end, error } = span;
  if (error !== undefined) out.within(15, () => out.number(3, ERROR));
  attributes(out, 9, span.attributes);
  out.nanoseconds(8, end);
  out.nanoseconds(7, start);
  out.number(6, KINDS[kind]);
  out.text(5, name.toWellFormed());
  if (parentSpanId !== undefined) out.text(4, parentSpanId, 'hex');
  out.text(2, spanId, 'hex');
  out.text(1, traceId, 'hex');
}

/** An ExportTraceServiceRequest. */
export function traceRequest({ attributes: about, scope }: Resource, spans: readonly Span[]): Buffer {
  const out = new Writer();
  out.within(1, () => {
    out.within(2, () => {
      for (const span of spans.toReversed()) out.within(2, () => writeSpan(out, span));
      out.within(1, () => {
        out.text(2, scope.version);
        out.text(1, scope.name);
      });
    });
    out.within(1, () => attributes(out, 1, about));
  });
  return out.done();
}
