import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createEventReader, eventsOf, type SentEvent } from './index.mjs';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const TEXT =
  'data: one\n\n: a comment\nid: 7\nevent: delta\r\ndata:two\r\ndata:  three\r\n\r\ndata: ü\u2028x\n\nevent: none\n\n';
const EVENTS: SentEvent[] = [
  { event: 'message', data: 'one' },
  { id: '7', event: 'delta', data: 'two\n three' },
  { event: 'message', data: 'ü\u2028x' },
];

test('events are read wherever the bytes are cut', () => {
  const all = bytes(TEXT);
  for (let cut = 0; cut <= all.length; cut += 1) {
    const reader = createEventReader();
    assert.deepEqual([...reader.push(all.slice(0, cut)), ...reader.push(all.slice(cut)), ...reader.end()], EVENTS);
  }
});

test('the last event may lack its empty line', () => {
  const reader = createEventReader();
  assert.deepEqual(reader.push(bytes('data: a')), []);
  assert.deepEqual(reader.end(), [{ event: 'message', data: 'a' }]);
});

test('what has no end, in one line or in many, and what is no text is refused', () => {
  const line = bytes(`data: ${'x'.repeat(1024 * 1024)}`);
  const one = createEventReader();
  assert.throws(() => {
    for (let n = 0; n < 5; n += 1) one.push(line);
  }, /too large/);
  const many = createEventReader();
  assert.throws(() => {
    for (let n = 0; n < 6; n += 1) many.push(bytes(`data: ${'x'.repeat(1024 * 1024)}\n`));
  }, /too large/);
  assert.throws(() => createEventReader().push(Uint8Array.of(0xff)), TypeError);
});

test('who stops reading lets go of the answer', async () => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(bytes('data: again\n\n')),
    cancel: () => void (cancelled = true),
  });
  for await (const { data } of eventsOf(new Response(body))) {
    assert.equal(data, 'again');
    break;
  }
  assert.equal(cancelled, true);
  const whole: SentEvent[] = [];
  for await (const event of eventsOf(new Response(TEXT))) whole.push(event);
  assert.deepEqual(whole, EVENTS);
});

test('what was read is forgotten while the next is waited for', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let given: WeakRef<SentEvent> | undefined;
  const asked = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(bytes('data: one\n\n')),
      pull: () => asked.resolve(),
    },
    { highWaterMark: 0 },
  );
  const events = eventsOf({ body });
  const first = async (): Promise<void> => {
    const { value } = await events.next();
    given = new WeakRef(value!);
  };
  await first();
  const next = events.next();
  await asked.promise;
  for (let n = 0; n < 20 && given?.deref(); n += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  assert.ok(given && given.deref() === undefined, 'it is still held');
  void next;
});
