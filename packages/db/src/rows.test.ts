import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { test } from 'node:test';
import type { Client, Connection } from 'pg';
import { emptyRow, readRows, rowOf, takeRows, type Column, type Row } from './rows.ts';

const text = (name: string): Column => ({ name, parse: String });
const COLUMNS = [text('a'), text('b'), text('c')];

function message(kind: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function dataRow(values: readonly (string | null)[]): Buffer {
  const parts = values.map((value) => {
    const bytes = Buffer.from(value ?? '');
    const length = Buffer.alloc(4);
    length.writeInt32BE(value === null ? -1 : bytes.length);
    return Buffer.concat([length, bytes]);
  });
  return message('D', Buffer.concat([Buffer.from([0, values.length]), ...parts]));
}

const DONE = message('C', Buffer.from('SELECT 3\0'));
const READY = message('Z', Buffer.from('I'));

/** What a connection makes of bytes that come in pieces of that size. */
function readAll(bytes: Buffer, size: number, takes = true) {
  const connection = new EventEmitter() as EventEmitter & { attachListeners: (stream: Readable) => void };
  readRows({ connection } as unknown as Client);
  const stream = new PassThrough();
  connection.attachListeners(stream);
  const heard: unknown[] = [];
  const take = (from: Buffer, at: number, end: number): void =>
    void heard.push(rowOf(COLUMNS, emptyRow(COLUMNS), from, at, end));
  if (takes) takeRows(connection as unknown as Connection, take);
  for (const name of ['commandComplete', 'readyForQuery', 'dataRow'])
    connection.on(name, ({ fields }: { fields?: unknown }) => heard.push(fields ?? name));
  let failure: Error | undefined;
  stream.on('error', (error) => (failure = error));
  for (let at = 0; at < bytes.length; at += size) stream.emit('data', bytes.subarray(at, at + size));
  return { heard, failed: () => failure };
}

const ROWS: (string | null)[][] = [
  ['plain', null, ''],
  ['é\u{1f600}', 'x'.repeat(700), 'after'],
  ['\u0000\u007f', 'a long text that stands alone', null],
];
const asRow = ([a = null, b = null, c = null]: (string | null)[]): Row => ({ a, b, c });

test('rows and what is around them arrive in their order, in whatever pieces they come', () => {
  const bytes = Buffer.concat([...ROWS.map(dataRow), DONE, dataRow(['1', '2', '3']), DONE, READY]);
  const expected = [...ROWS.map(asRow), 'commandComplete', asRow(['1', '2', '3']), 'commandComplete', 'readyForQuery'];
  for (const size of [1, 2, 3, 7, 64, 701, bytes.length]) assert.deepEqual(readAll(bytes, size).heard, expected);
});

test('rows that nobody takes are read by pg', () => {
  const bytes = Buffer.concat([dataRow(['1', null, 'é']), DONE, READY]);
  assert.deepEqual(readAll(bytes, 4, false).heard, [['1', null, 'é'], 'commandComplete', 'readyForQuery']);
});

test('what is no message ends the connection', async () => {
  const { heard, failed } = readAll(Buffer.from([0x44, 0, 0, 0, 0, 0, 0]), 7);
  await new Promise(setImmediate);
  assert.deepEqual(heard, []);
  assert.match(String(failed()), /no message/);
});

test('the last of two columns with one name counts', () => {
  const columns = [text('a'), text('a')];
  const bytes = dataRow(['first', null]);
  assert.deepEqual(rowOf(columns, emptyRow(columns), bytes, 5, bytes.length), { a: null });
});
