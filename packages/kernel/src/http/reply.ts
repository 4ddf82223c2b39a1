import { Readable } from 'node:stream';
import { stringifySetCookie, type SetCookie } from 'cookie';

/** An answer that is more than a body: made by `respond`, `redirect`, `eventStream`. */
export interface Answer {
  readonly [ANSWER]: true;
  status?: number;
  headers: Record<string, string | string[]>;
  body?: unknown;
  stream?: Readable;
}

const ANSWER = Symbol('answer');

interface Parts {
  status?: number;
  headers?: Record<string, string | string[]>;
  /** JSON when an object, else sent as it is. */
  body?: unknown;
  stream?: Readable;
  cookies?: Cookie[];
}

export type Cookie = SetCookie;

export const isAnswer = (value: unknown): value is Answer =>
  typeof value === 'object' && value !== null && ANSWER in value;

export function respond({ status, headers = {}, body, stream, cookies = [] }: Parts): Answer {
  const set = cookies.map((cookie) => stringifySetCookie(cookie));
  return {
    [ANSWER]: true,
    status,
    headers: set.length > 0 ? { ...headers, 'set-cookie': set } : headers,
    body,
    stream,
  };
}

export const redirect = (location: string, status = 302, cookies: Cookie[] = []): Answer =>
  respond({ status, headers: { location }, body: '', cookies });

export interface ServerEvent {
  id?: string;
  event?: string;
  /** Sent as JSON, unless it is a string. */
  data: unknown;
}

const eventText = ({ id, event, data }: ServerEvent): string => {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${text.replaceAll('\n', '\ndata: ')}\n\n`;
};

/** Server-sent events. The source is pulled only as fast as the client reads, and ended when the client goes. */
export function eventStream(source: AsyncIterable<ServerEvent>, headers: Record<string, string> = {}): Answer {
  async function* lines() {
    for await (const event of source) yield eventText(event);
  }
  return respond({
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      ...headers,
    },
    stream: Readable.from(lines(), { objectMode: false }),
  });
}
