import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sharedAttributes, SpanBatch, type Span } from './otlp.ts';

/** What was written, by the public definitions: opentelemetry/proto/trace/v1 and common/v1. */

type Field = [field: number, value: bigint | Buffer];

function fieldsOf(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let [value, shift] = [0n, 0n];
    for (;;) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
      shift += 7n;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const kind = tag & 7;
    if (kind === 0) fields.push([tag >>> 3, varint()]);
    else if (kind === 1) fields.push([tag >>> 3, bytes.readBigUInt64LE((at += 8) - 8)]);
    else if (kind === 2) {
      const length = Number(varint());
      fields.push([tag >>> 3, bytes.subarray(at, (at += length))]);
    } else assert.fail(`wire type ${kind}`);
  }
  assert.equal(at, bytes.length);
  return fields;
}

const all = (bytes: Buffer, field: number): Buffer[] =>
  fieldsOf(bytes).flatMap(([found, value]) => (found === field ? [value as Buffer] : []));
const one = (bytes: Buffer, field: number): Buffer => {
  const found = all(bytes, field);
  assert.equal(found.length, 1, `field ${field}`);
  return found[0]!;
};

function valueOf(bytes: Buffer): unknown {
  const [[kind, value]] = fieldsOf(bytes) as [Field];
  if (kind === 1) return (value as Buffer).toString();
  if (kind === 2) return value === 1n;
  if (kind === 3) return Number(BigInt.asIntN(64, value as bigint));
  if (kind === 5) return all(value as Buffer, 1).map(valueOf);
  const double = Buffer.alloc(8);
  double.writeBigUInt64LE(value as bigint);
  return double.readDoubleLE();
}
const attributesOf = (bytes: Buffer, field: number): Record<string, unknown> =>
  Object.fromEntries(all(bytes, field).map((pair) => [one(pair, 1).toString(), valueOf(one(pair, 2))]));

function read(request: Uint8Array) {
  const resourceSpans = one(Buffer.from(request), 1);
  const scopeSpans = one(resourceSpans, 2);
  return {
    resource: attributesOf(one(resourceSpans, 1), 1),
    scope: fieldsOf(one(scopeSpans, 1)).map(([field, value]) => [field, String(value)]),
    spans: all(scopeSpans, 2).map((span) => {
      const plain = new Map(fieldsOf(span));
      return {
        traceId: one(span, 1).toString('hex'),
        spanId: one(span, 2).toString('hex'),
        parentSpanId: all(span, 4)[0]?.toString('hex'),
        name: one(span, 5).toString(),
        kind: plain.get(6),
        start: plain.get(7),
        end: plain.get(8),
        attributes: attributesOf(span, 9),
        status: all(span, 15).map((status) => fieldsOf(status)),
      };
    }),
  };
}

const base: Span = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  name: 'chat m',
  kind: 'client',
  start: 1_794_930_000_123.456,
  end: 1_794_930_000_999.001,
  attributes: {},
};
const batchOf = (...spans: Span[]) => {
  const batch = new SpanBatch({ attributes: { 'service.name': 't' }, scope: { name: 'troupe', version: '1' } });
  for (const span of spans) batch.add(span);
  return batch;
};

describe('spans', () => {
  it('are written as the protocol says, with every kind of value', () => {
    const attributes = {
      text: 'plain',
      wide: 'größer – 🎭',
      long: 'x'.repeat(70_000),
      half: 'a\ud800b',
      empty: '',
      whole: 4711,
      large: 2 ** 40,
      below: -3,
      part: 0.25,
      yes: true,
      no: false,
      list: ['stop', 'ü'],
      left: undefined,
    };
    const span = { ...base, parentSpanId: '00f067aa0ba902b7', attributes, error: 'timeout' };
    const batch = batchOf(span, { ...base, kind: 'internal', name: 'naïve' });
    assert.equal(batch.spans, 2);
    const { resource, scope, spans } = read(batch.take());
    assert.deepEqual(resource, { 'service.name': 't' });
    assert.deepEqual(scope, [
      [1, 'troupe'],
      [2, '1'],
    ]);
    const found = new Map(spans.map((one) => [one.name, one]));
    const { left: _, ...told } = attributes;
    assert.deepEqual(found.get('chat m'), {
      traceId: base.traceId,
      spanId: base.spanId,
      parentSpanId: '00f067aa0ba902b7',
      name: 'chat m',
      kind: 3n,
      start: 1_794_930_000_123_456_000n,
      end: 1_794_930_000_999_001_000n,
      attributes: { ...told, half: 'a\ufffdb' },
      status: [[[3, 2n]]],
    });
    assert.deepEqual([found.get('naïve')?.kind, found.get('naïve')?.status], [1n, []]);
  });

  it('take what they have alike as it was written once, beside what is their own', () => {
    const alike = { model: 'größer', list: ['stop'], long: 'x'.repeat(10_000) };
    const shared = sharedAttributes({ ...alike, left: undefined });
    const { spans } = read(batchOf(...[1, 2].map((n) => ({ ...base, shared, attributes: { n } }))).take());
    assert.deepEqual(
      spans.map(({ attributes }) => attributes).toSorted((a, b) => Number(a['n']) - Number(b['n'])),
      [1, 2].map((n) => ({ ...alike, n })),
    );
  });

  it('have ids of their own where nobody gave any', () => {
    const { traceId: _, spanId: __, ...nobodys } = base;
    const { spans } = read(batchOf(...Array.from({ length: 2000 }, () => nobodys)).take());
    for (const [id, form] of [
      ['traceId', /^[0-9a-f]{32}$/],
      ['spanId', /^[0-9a-f]{16}$/],
    ] as const) {
      assert.ok(spans.every((span) => form.test(span[id] as string)));
      assert.equal(new Set(spans.map((span) => span[id])).size, 2000);
    }
  });

  it('leave once, however many there are', () => {
    const batch = batchOf();
    for (let round = 0; round < 3; round += 1) {
      for (let n = 0; n < 3000; n += 1) batch.add({ ...base, name: `${round}.${n}`, attributes: { n } });
      const { spans } = read(batch.take());
      assert.equal(new Set(spans.map(({ name }) => name)).size, 3000);
      assert.ok(spans.every(({ name, attributes }) => name === `${round}.${attributes['n'] as number}`));
      assert.deepEqual([batch.spans, batch.bytes], [0, 0]);
    }
  });
});
