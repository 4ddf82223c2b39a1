import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createReader } from '../lib/load.ts';

/** Requests that come as people do: at their own pace, whether those before are answered or not. */

export interface Flooded {
  answered: number;
  /** 429 or 503, and when to come again. */
  shed: number;
  /** Any other answer, the last of them, and connections that broke off. */
  other: number;
  last: string;
  cut: number;
  /** For which there was no connection left at this end. */
  unsent: number;
}

interface FloodOptions {
  port: number;
  perSecond: number;
  milliseconds: number;
  /** At this end: whoever waits has one. */
  connections: number;
  request: (n: number) => Buffer;
}

interface Line {
  socket: Socket;
  /** Undefined: nothing is under way. */
  read: ReturnType<typeof createReader> | undefined;
  /** Its last answer said that it takes no more. */
  isLast: boolean;
}

const TICK_MS = 10;
/** What is not answered by then is cut off. */
const PATIENCE_MS = 30_000;

export async function flood(options: FloodOptions): Promise<Flooded> {
  const { perSecond, milliseconds, connections, request } = options;
  const counts: Flooded = { answered: 0, shed: 0, other: 0, last: '', cut: 0, unsent: 0 };
  const lines = openLines(options.port, counts);
  const began = performance.now();
  for (let sent = 0; performance.now() - began < milliseconds; await delay(TICK_MS))
    for (const due = ((performance.now() - began) / 1000) * perSecond; sent < due; sent += 1) {
      if (lines.size() >= connections && lines.idle() === 0) counts.unsent += 1;
      else lines.send(request(sent));
    }
  for (const until = performance.now() + PATIENCE_MS; lines.underWay() > 0 && performance.now() < until;)
    await delay(50);
  counts.cut += lines.underWay();
  lines.close();
  return counts;
}

function judge(head: string, counts: Flooded): void {
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]);
  if (status === 200) counts.answered += 1;
  else if ((status === 429 || status === 503) && /\r\nretry-after: *\d/i.test(head)) counts.shed += 1;
  else {
    counts.other += 1;
    counts.last = head.split('\r\n', 1)[0] ?? '';
  }
}

function openLines(port: number, counts: Flooded) {
  const all = new Set<Line>();
  const idle: Line[] = [];
  let isClosed = false;

  function open(): Line {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const line: Line = { socket, read: undefined, isLast: false };
    all.add(line);
    socket.on('data', (chunk: Buffer) => {
      const state = line.read?.(chunk);
      if (state !== 'done' && state !== 'failed') return;
      line.read = undefined;
      if (line.isLast) socket.end();
      else idle.push(line);
    });
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      all.delete(line);
      if (line.read && !isClosed) counts.cut += 1;
      line.read = undefined;
    });
    return line;
  }
  /** One that was closed while it rested is passed over. */
  function next(): Line {
    for (let line = idle.pop(); line; line = idle.pop()) if (all.has(line) && !line.socket.readableEnded) return line;
    return open();
  }

  return {
    size: () => all.size,
    idle: () => idle.length,
    underWay: () => [...all].filter(({ read }) => read !== undefined).length,
    send(request: Buffer): void {
      const line = next();
      line.read = createReader((head) => {
        line.isLast = /\r\nconnection: *close/i.test(head);
        judge(head, counts);
      });
      line.socket.write(request);
    },
    close(): void {
      isClosed = true;
      for (const { socket } of all) socket.destroy();
    },
  };
}
