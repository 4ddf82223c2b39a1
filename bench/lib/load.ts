import { connect, type Socket } from 'node:net';

/**
 * Load over keep-alive connections on bare sockets: the client must cost little beside what is measured, and a full
 * HTTP client costs as much as a server.
 */

export interface LoadOptions {
  url: string;
  headers: Record<string, string>;
  /** What is posted; without one it is a GET. */
  body?: string;
  connections: number;
  milliseconds: number;
  /** Also stops after this many answers. */
  calls?: number;
  /** So many requests a second, evenly, each timed from when it was due; left out: as fast as the answers come. */
  perSecond?: number;
  /** What is different in the n-th request, and on which connection; `path` is put behind the address. */
  vary?: (n: number, connection: number) => { path?: string; headers?: Record<string, string>; body?: string };
}

export interface Load {
  perSecond: number;
  calls: number;
  /** Milliseconds at the median, until the whole answer and until the first byte of its body. */
  median: number;
  p99: number;
  firstByte: number;
  errors: number;
}

interface Tally {
  wholes: number[];
  firsts: number[];
  errors: number;
  failure: string;
}

export async function load(options: LoadOptions): Promise<Load> {
  const { url, connections, milliseconds, calls = Infinity, perSecond, vary } = options;
  const { hostname, port } = new URL(url);
  const write = requestWriter(options);
  const fixed = vary ? undefined : write();
  let made = 0;
  const next = (connection: number): Buffer => fixed ?? write(vary?.(made++, connection));
  const tally: Tally = { wholes: [], firsts: [], errors: 0, failure: '' };
  const started = performance.now();
  const goOn = () => performance.now() - started < milliseconds && tally.wholes.length < calls;
  const pace = perSecond === undefined ? atOnce : evenly(perSecond, goOn);
  await Promise.all(
    Array.from({ length: connections }, (_, index) =>
      oneConnection(Number(port), hostname, { request: () => next(index), goOn, pace, tally }),
    ),
  );
  const seconds = (performance.now() - started) / 1000;
  const count = tally.wholes.length;
  if (count === 0 || tally.errors > count / 100)
    throw new Error(`${url}: ${tally.errors} errors, ${count} answers: ${tally.failure}`);
  const sorted = Float64Array.from(tally.wholes).toSorted();
  const firsts = Float64Array.from(tally.firsts).toSorted();
  return {
    perSecond: count / seconds,
    calls: count,
    median: sorted[count >> 1]!,
    p99: sorted[Math.floor(count * 0.99)]!,
    firstByte: firsts[count >> 1]!,
    errors: tally.errors,
  };
}

/** How requests are written: what they share is put together once. */
export function requestWriter({ url, headers, body }: Pick<LoadOptions, 'url' | 'headers' | 'body'>) {
  const { host, pathname } = new URL(url);
  const base = pathname === '/' ? '' : pathname;
  const lines = (of: Record<string, string>): string =>
    Object.entries(of)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
  const shared = ` HTTP/1.1\r\n${lines({ host, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers })}`;
  return (own: ReturnType<NonNullable<LoadOptions['vary']>> = {}): Buffer => {
    const text = own.body ?? body;
    const start = `${text === undefined ? 'GET' : 'POST'} ${base}${own.path ?? (base === '' ? '/' : '')}${shared}${own.headers ? lines(own.headers) : ''}`;
    return Buffer.from(
      text === undefined ? `${start}\r\n` : `${start}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  };
}

/** Lets whoever is ready send its next request, and says when that one was due. */
type Pace = (send: (due: number) => void) => void;

const atOnce: Pace = (send) => send(performance.now());

function evenly(perSecond: number, goOn: () => boolean): Pace {
  const ready: ((due: number) => void)[] = [];
  const started = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    // Of a request that nobody is free to send, the time runs from then on.
    const due = goOn() ? ((now - started) / 1000) * perSecond : Infinity;
    while (ready.length > 0 && sent < due) {
      ready.shift()!(started + (sent / perSecond) * 1000);
      sent += 1;
    }
    if (due === Infinity) clearInterval(timer);
  }, 1);
  return (send) => (goOn() ? void ready.push(send) : send(0));
}

function oneConnection(
  port: number,
  host: string,
  { request, goOn, pace, tally }: { request: () => Buffer; goOn: () => boolean; pace: Pace; tally: Tally },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ port, host, noDelay: true });
    let sent = 0;
    let firstAt = 0;
    let reader = createReader();
    const send = (due: number): void => {
      if (!goOn()) return void socket.end(resolve);
      sent = due;
      firstAt = 0;
      reader = createReader();
      socket.write(request());
    };
    const next = (): void => pace(send);
    socket.on('connect', next);
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      const state = reader(chunk);
      if (firstAt === 0 && state !== 'head') firstAt = performance.now();
      if (state !== 'done' && state !== 'failed') return;
      if (state === 'failed') {
        tally.errors += 1;
        tally.failure = chunk.toString('latin1').slice(0, 600);
      } else {
        tally.wholes.push(performance.now() - sent);
        tally.firsts.push(firstAt - sent);
      }
      next();
    });
  });
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** Tells how far an answer has come, and its head. Answers have a length or are chunked; nothing is pipelined. */
export function createReader(
  onHead: (head: string) => void = () => {},
): (chunk: Buffer) => 'head' | 'body' | 'done' | 'failed' {
  let head: Buffer = Buffer.alloc(0);
  let isOk = false;
  let left: number | undefined;
  let tail: Buffer = Buffer.alloc(0);
  const inBody = (chunk: Buffer): 'body' | 'done' | 'failed' | 'head' => {
    if (left === undefined) {
      tail = chunk.length >= LAST_CHUNK.length ? chunk : Buffer.concat([tail, chunk]);
      if (!tail.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)) return chunk.length > 0 ? 'body' : 'head';
    } else {
      left -= chunk.length;
      if (left > 0) return chunk.length > 0 ? 'body' : 'head';
    }
    return isOk ? 'done' : 'failed';
  };
  let hasHead = false;
  return (chunk) => {
    if (hasHead) return inBody(chunk);
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    const end = head.indexOf(HEAD_END);
    if (end < 0) return 'head';
    hasHead = true;
    const text = head.toString('latin1', 0, end);
    isOk = /^HTTP\/1\.1 20[01] /.test(text);
    onHead(text);
    const length = /content-length: *(\d+)/i.exec(text)?.[1];
    left = length === undefined ? undefined : Number(length);
    return inBody(head.subarray(end + HEAD_END.length));
  };
}
