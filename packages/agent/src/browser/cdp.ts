import type { Readable, Writable } from 'node:stream';

/**
 * Talks to a browser over two pipes, a message up to each NUL. Whatever a page makes the browser say is bounded: a message
 * that is too long is not kept, and one that says too much is not listened to any longer.
 */

export interface CdpEvent {
  method: string;
  params: Readonly<Record<string, unknown>>;
  sessionId?: string;
}

interface CallOptions {
  sessionId?: string | undefined;
  timeoutMs?: number;
}

export interface Cdp {
  send: <T = Record<string, unknown>>(method: string, params?: object, options?: CallOptions) => Promise<T>;
  /** The answer as it came, for who reads it elsewhere. */
  raw: (method: string, params?: object, options?: CallOptions) => Promise<Buffer>;
  /** It has ended: nobody is answered any more. */
  end: (why: string) => void;
}

interface Waiting {
  method: string;
  resolve: (message: Buffer) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

/** What the browser says is wrong, or that it says nothing. */
export class CdpError extends Error {
  override readonly name = 'CdpError';
  readonly kind: 'refused' | 'silent' | 'large' | 'ended';

  constructor(kind: CdpError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

const MB = 1024 * 1024;
const MOST_MESSAGE_BYTES = 12 * MB;
const WINDOW_MS = 10_000;
const MOST_MESSAGES = 20_000;
const MOST_BYTES = 96 * MB;
const ANSWER_MS = 10_000;
/** Our number stands at the beginning of an answer. */
const NUMBER = /^\{"id":(\d+)/;

/** Cuts what comes into messages. Of one that is too long only the beginning is kept. */
function createMessages(onMessage: (message: Buffer, cut: boolean) => void, onFlood: () => void) {
  let parts: Buffer[] = [];
  let size = 0;
  let window = { until: 0, messages: 0, bytes: 0 };

  function keep(part: Buffer): void {
    if (size <= MOST_MESSAGE_BYTES) parts.push(part);
    else parts = parts.slice(0, 1);
    size += part.length;
  }

  return (chunk: Buffer): void => {
    if (Date.now() >= window.until) window = { until: Date.now() + WINDOW_MS, messages: 0, bytes: 0 };
    window.bytes += chunk.length;
    let from = 0;
    for (let at = chunk.indexOf(0); at !== -1; at = chunk.indexOf(0, from)) {
      keep(chunk.subarray(from, at));
      const cut = size > MOST_MESSAGE_BYTES;
      const message = cut ? (parts[0] ?? chunk) : parts.length === 1 ? parts[0]! : Buffer.concat(parts);
      parts = [];
      size = 0;
      from = at + 1;
      window.messages += 1;
      onMessage(message, cut);
    }
    if (from < chunk.length) keep(chunk.subarray(from));
    if (window.messages > MOST_MESSAGES || window.bytes > MOST_BYTES) onFlood();
  };
}

/** Calls that are not answered yet. */
function createWaiting() {
  const waiting = new Map<number, Waiting>();
  return {
    waiting,
    settle(id: number, how: (call: Waiting) => void): void {
      const call = waiting.get(id);
      if (!call) return;
      waiting.delete(id);
      clearTimeout(call.timer);
      how(call);
    },
  };
}

export function createCdp(
  { input, output }: { input: Writable; output: Readable },
  {
    onEvent,
    onFlood,
    answerMs = ANSWER_MS,
  }: { onEvent: (event: CdpEvent) => void; onFlood: () => void; answerMs?: number | undefined },
): Cdp {
  const { waiting, settle } = createWaiting();
  let number = 0;
  let over: string | undefined;

  function end(why: string): void {
    over ??= why;
    for (const id of waiting.keys()) settle(id, ({ reject }) => reject(new CdpError('ended', why)));
  }

  const read = createMessages((message, cut) => {
    if (over !== undefined) return;
    const id = NUMBER.exec(message.subarray(0, 20).toString('latin1'))?.[1];
    if (id === undefined) {
      if (!cut) onEvent(JSON.parse(message.toString('utf8')) as CdpEvent);
      return;
    }
    settle(Number(id), ({ resolve, reject }) =>
      cut ? reject(new CdpError('large', 'the answer is too large')) : resolve(message),
    );
  }, onFlood);
  output.on('data', read);
  // Its end is told by the process.
  input.on('error', () => undefined);
  output.on('error', () => undefined);

  function raw(method: string, params: object = {}, { sessionId, timeoutMs = answerMs }: CallOptions = {}) {
    return new Promise<Buffer>((resolve, reject) => {
      if (over !== undefined) return reject(new CdpError('ended', over));
      const id = ++number;
      const silent = (): void =>
        settle(id, () => reject(new CdpError('silent', `no answer to ${method} in ${timeoutMs / 1000} s`)));
      waiting.set(id, { method, resolve, reject, timer: setTimeout(silent, timeoutMs) });
      input.write(`${JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) })}\0`);
    });
  }

  return {
    raw,
    end,
    async send<T>(method: string, params?: object, options?: CallOptions) {
      const answer = JSON.parse((await raw(method, params, options)).toString('utf8')) as {
        result?: T;
        error?: { message: string };
      };
      if (answer.error) throw new CdpError('refused', answer.error.message);
      return answer.result as T;
    },
  };
}
