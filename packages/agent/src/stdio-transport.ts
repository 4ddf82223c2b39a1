import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { JSONRPCMessageSchema, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

/** Talks to an MCP server over its standard streams: a line a message, and no line longer than we can bear. */

const MAX_LINE_BYTES = 4 * 1024 * 1024;

export interface StdioTransport extends Transport {
  pid: () => number | undefined;
}

export function createStdioTransport(program: {
  command: string;
  args: readonly string[];
  release: (pid: number | undefined) => void;
}): StdioTransport {
  let child: ChildProcessByStdio<Writable, Readable, null> | undefined;
  let parts: Buffer[] = [];
  let size = 0;

  const transport: StdioTransport = {
    pid: () => child?.pid,
    start: () =>
      new Promise((resolve, reject) => {
        child = spawn(program.command, program.args, { stdio: ['pipe', 'pipe', 'ignore'], env: {} });
        child.once('spawn', resolve);
        child.once('error', reject);
        child.once('exit', () => {
          program.release(child?.pid);
          transport.onclose?.();
        });
        child.stdin.on('error', (error) => transport.onerror?.(error));
        child.stdout.on('data', read);
      }),
    send: (message) =>
      new Promise((resolve, reject) => {
        if (!child?.stdin.writable) return reject(new Error('the server has ended'));
        child.stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
      }),
    close: async () => {
      child?.kill('SIGKILL');
    },
  };

  function read(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      deliver(Buffer.concat([...parts, chunk.subarray(from, end)]).toString('utf8'));
      parts = [];
      size = 0;
      from = end + 1;
    }
    parts.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > MAX_LINE_BYTES) {
      transport.onerror?.(new Error(`the server sent a line of more than ${MAX_LINE_BYTES} bytes`));
      child?.kill('SIGKILL');
      parts = [];
    }
  }

  function deliver(line: string): void {
    if (line.trim() === '') return;
    let message: JSONRPCMessage;
    try {
      message = JSONRPCMessageSchema.parse(JSON.parse(line));
    } catch (error) {
      transport.onerror?.(error as Error);
      return;
    }
    transport.onmessage?.(message);
  }

  return transport;
}
