import { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import type { Client, Connection } from 'pg';
import { parse } from 'pg-protocol';

/**
 * Rows as the server sends them. pg makes a message, an array and an event of each, and a call for each value: that is more
 * than half of what a short query costs here. Rows go straight to whoever asked; all else is read by pg as before.
 */

export type Column = { name: string; parse: (text: string) => unknown };
export type Row = Record<string, unknown>;
/** Takes the row that begins there, at the number of its values, and ends before `end`. */
export type TakeRow = (bytes: Buffer, at: number, end: number) => void;

const TAKES = Symbol('who takes the rows');
type Reading = Connection & { attachListeners: (stream: Readable) => void; [TAKES]?: TakeRow | undefined };

const DATA_ROW = 0x44;
/** The kind of a message, and its length. */
const HEAD = 5;
const LENGTH = 4;
/** Rows that are no longer are one text, of which each value is a part. What is longer would be kept for one of its values. */
const SHORT_ROW = 512;
const NULL = -1;

/** To be said before it connects. */
export function readRows(client: Client): Client {
  const { connection } = client as unknown as { connection: Reading };
  connection.attachListeners = (stream) => {
    const others = new EventEmitter();
    void parse(others as Readable, (message) => {
      connection.emit(message.name === 'error' ? 'errorMessage' : message.name, message);
    });
    stream.on('data', reader(connection, others, stream));
  };
  return client;
}

/** Whoever takes rows takes them until somebody else does. */
export function takeRows(connection: Connection, take: TakeRow | undefined): void {
  (connection as Reading)[TAKES] = take;
}

const int32 = (bytes: Buffer, at: number): number =>
  (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;

/** Messages in their order. One that comes in pieces is put together once, when all of them are here. */
function reader(connection: Reading, others: EventEmitter, stream: Readable): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let size = 0;
  let needed = 0;
  return (chunk) => {
    let bytes = chunk;
    if (size > 0) {
      pieces.push(chunk);
      size += chunk.length;
      if (size < needed) return;
      bytes = Buffer.concat(pieces, size);
      pieces = [];
    }
    let at = 0;
    let from = 0;
    needed = HEAD;
    while (at + HEAD <= bytes.length) {
      const length = int32(bytes, at + 1);
      if (length < LENGTH) return void stream.destroy(new Error('The database sent what is no message'));
      const end = at + 1 + length;
      needed = end - at;
      if (end > bytes.length) break;
      if (bytes[at] === DATA_ROW) {
        // What came before it says whose row it is.
        if (from < at) others.emit('data', bytes.subarray(from, at));
        const take = connection[TAKES];
        from = take ? end : at;
        take?.(bytes, at + HEAD, end);
      }
      at = end;
      needed = HEAD;
    }
    if (from < at) others.emit('data', bytes.subarray(from, at));
    size = bytes.length - at;
    if (size > 0) pieces.push(bytes.subarray(at));
  };
}

/** An empty one, of which all others are copies: what has its names from the start need not learn them one by one. */
export const emptyRow = (columns: readonly Column[]): Row =>
  Object.fromEntries(columns.map(({ name }) => [name, null]));

const isPlain = (text: string, from: number, to: number): boolean => {
  for (let at = from; at < to; at += 1) if (text.charCodeAt(at) > 127) return false;
  return true;
};

export function rowOf(columns: readonly Column[], empty: Row, bytes: Buffer, start: number, end: number): Row {
  const row = { ...empty };
  const text = end - start <= SHORT_ROW ? bytes.toString('latin1', start, end) : undefined;
  let at = start + 2;
  for (let index = 0; index < columns.length; index += 1) {
    const length = int32(bytes, at);
    at += LENGTH;
    const { name, parse: read } = columns[index]!;
    if (length === NULL) {
      row[name] = null;
      continue;
    }
    const from = at;
    at += length;
    row[name] = read(
      text !== undefined && isPlain(text, from - start, at - start)
        ? text.slice(from - start, at - start)
        : bytes.toString('utf8', from, at),
    );
  }
  return row;
}
