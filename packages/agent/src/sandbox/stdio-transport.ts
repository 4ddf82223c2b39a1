import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, parseJSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { parseAnswer } from '@troupe/kernel';
import { readCalmly } from './calmly.ts';
import { createOutputTail } from './output-tail.ts';

/** Talks to an MCP server over its standard streams: a line a message, and no line longer than we can bear. */

const MAX_LINE_BYTES = 2 * 1024 * 1024;
/** Lists, objects and fields of one message. */
const MAX_PARTS = 50_000;
/** What it may say in so long: all of it is read on the loop. */
const WINDOW_MS = 10_000;
const MAX_LINES = 2_000;
const MAX_BYTES = 16 * 1024 * 1024;
/** What it complained about last may still be on its way when it is gone; what it has started may hold that way open for ever. */
const LAST_WORDS_MS = 250;

export interface StdioTransport extends Transport {
  pid: () => number | undefined;
  /** How the program ended by itself, and what it complained about; undefined: it has not. */
  ended: () => { code: number | null; said: string } | undefined;
}

/** Cuts what a server says into lines; told once that it is too much, nobody need ask again. */
function createLines(onLine: (line: string) => void, onTooMuch: (why: string) => void) {
  let parts: Buffer[] = [];
  let size = 0;
  let window = { until: 0, lines: 0, bytes: 0 };

  /** Whether it may go on. */
  function counted(lines: number, bytes: number): boolean {
    if (Date.now() >= window.until) window = { until: Date.now() + WINDOW_MS, lines: 0, bytes: 0 };
    window.lines += lines;
    window.bytes += bytes;
    if (window.lines <= MAX_LINES && window.bytes <= MAX_BYTES) return true;
    end(`the server said more than ${MAX_LINES} lines or ${MAX_BYTES} bytes in ${WINDOW_MS / 1000} s`);
    return false;
  }

  function end(why: string): void {
    parts = [];
    size = 0;
    onTooMuch(why);
  }

  function read(chunk: Buffer): void {
    if (!counted(0, chunk.length)) return;
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      onLine(Buffer.concat([...parts, chunk.subarray(from, at)]).toString('utf8'));
      parts = [];
      size = 0;
      from = at + 1;
      if (!counted(1, 0)) return;
    }
    parts.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > MAX_LINE_BYTES) end(`the server sent a line of more than ${MAX_LINE_BYTES} bytes`);
  }

  // What it complains about is no line, and counts all the same.
  return { read, heard: (chunk: Buffer): void => void counted(0, chunk.length) };
}

interface Program {
  command: string;
  args: readonly string[];
  release: (pid: number | undefined) => void;
}

type Parse = typeof parseJSONRPCMessage;

/** `parse` is the library's, which is loaded only where there is a server. */
export function createStdioTransport(program: Program, parse: Parse): StdioTransport {
  let child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  const complaints = createOutputTail(4096);
  let over: { code: number | null } | undefined;
  let lastWords = Promise.resolve();
  const { read, heard } = createLines(deliver, (why) => {
    transport.onerror?.(new Error(why));
    child?.kill('SIGKILL');
  });

  const transport: StdioTransport = {
    pid: () => child?.pid,
    ended: () => over && { ...over, said: complaints.text() },
    start: () =>
      new Promise((resolve, reject) => {
        child = spawn(program.command, program.args, { stdio: ['pipe', 'pipe', 'pipe'], env: {} });
        child.once('spawn', resolve);
        child.once('error', reject);
        readCalmly(child.stderr, (chunk) => {
          complaints.add(chunk);
          if (child?.killed !== true) heard(chunk);
        });
        child.once('exit', (code) => {
          const isKilled = child?.killed === true;
          program.release(child?.pid);
          if (isKilled) return transport.onclose?.();
          over = { code };
          lastWords = allSaid(child!);
          void lastWords.then(() => transport.onclose?.());
        });
        child.stdin.on('error', (error) => transport.onerror?.(error));
        readCalmly(child.stdout, (chunk) => {
          if (child?.killed !== true) read(chunk);
        });
      }),
    send: (message) =>
      new Promise((resolve, reject) => {
        if (!child?.stdin.writable) return reject(new Error('the server has ended'));
        // It may end while this is on its way.
        child.stdin.write(`${JSON.stringify(message)}\n`, (error) =>
          error ? reject(new Error('the server has ended', { cause: error })) : resolve(),
        );
      }),
    close: async () => {
      child?.kill('SIGKILL');
      await lastWords;
    },
  };

  function deliver(line: string): void {
    const message = messageIn(line, parse, (error) => transport.onerror?.(error));
    if (message) transport.onmessage?.(message);
  }

  return transport;
}

const allSaid = (child: ChildProcessByStdio<Writable, Readable, Readable>): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, LAST_WORDS_MS);
    child.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });

function messageIn(line: string, parse: Parse, onBad: (error: Error) => void): JSONRPCMessage | undefined {
  if (line.trim() === '') return undefined;
  try {
    const said = parseAnswer(line, MAX_PARTS);
    return isNotice(said) ? undefined : parse(said);
  } catch (error) {
    onBad(error as Error);
    return undefined;
  }
}

/** Nothing here listens to notices, and checking them costs more than reading them. */
const isNotice = (said: unknown): boolean =>
  typeof said === 'object' && said !== null && 'method' in said && !('id' in said);
