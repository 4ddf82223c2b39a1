import type { Readable } from 'node:stream';
import { stringifySetCookie, type SetCookie } from 'cookie';
import { madeOf } from '../each.ts';

/** An answer that is more than a body: made by `respond`, `redirect`, `eventStream`. */
export interface Answer {
  readonly [ANSWER]: true;
  status?: number;
  headers: Record<string, string | string[]>;
  body?: unknown;
  stream?: Readable;
  texts?: AsyncIterable<string>;
}

const ANSWER = Symbol('answer');

interface Parts {
  status?: number;
  headers?: Record<string, string | string[]>;
  /** JSON when an object, else sent as it is. */
  body?: unknown;
  stream?: Readable;
  /** Written one by one, as fast as the client reads; ended when the client goes. */
  texts?: AsyncIterable<string>;
  cookies?: Cookie[];
}

export type Cookie = SetCookie;

export const isAnswer = (value: unknown): value is Answer =>
  typeof value === 'object' && value !== null && ANSWER in value;

export function respond({ status, headers = {}, body, stream, texts, cookies = [] }: Parts): Answer {
  const set = cookies.map((cookie) => stringifySetCookie(cookie));
  return {
    [ANSWER]: true,
    status,
    headers: set.length > 0 ? { ...headers, 'set-cookie': set } : headers,
    body,
    stream,
    texts,
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

const EVENT_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** Server-sent events. The source is pulled only as fast as the client reads, and ended when the client goes. */
export function eventStream(source: AsyncIterable<ServerEvent>, headers: Record<string, string> = {}): Answer {
  return eventTexts(
    madeOf(source, (event) => [eventText(event)]),
    headers,
  );
}

/** The same for events that are already text, each piece one or more of them. */
export const eventTexts = (texts: AsyncIterable<string>, headers: Record<string, string> = {}): Answer =>
  respond({ headers: { ...EVENT_HEADERS, ...headers }, texts });
