import type { Endpoints } from './endpoints.gen.d.mts';

export type { Endpoints };

/** What goes into a call besides its method and path. */
export interface Parts {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
  /** The body of an endpoint that takes a file. */
  bytes?: Blob | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Milliseconds until it is given up. */
  timeout?: number;
}

export interface TransportOptions {
  baseUrl: string;
  /** Sent with every call. */
  headers?: () => Record<string, string>;
  fetch?: typeof fetch;
  /** Milliseconds until a call is given up; 30,000 unless said. */
  timeout?: number;
}

export type Transport = (endpoint: { method: string; path: string }, input: Parts) => Promise<Response>;

/** Sends requests; a status of 400 or more is thrown as a CallError. */
export function createTransport(options: TransportOptions): Transport;

/** Fills `:name` in the path and appends the query; undefined values are left out. */
export function urlOf(endpoint: { path: string }, parts: Pick<Parts, 'params' | 'query'>): string;

/** What is wrong, as our own endpoints say it or as those in another's shape do. */
export function errorText(error: unknown): string | undefined;

/** What a call failed with: the status and the whole error body of the service. */
export class CallError extends Error {
  readonly status: number;
  readonly body: Record<string, unknown>;
  /** What says when to come back. */
  readonly headers: Record<string, string>;
  constructor(status: number, body: Record<string, unknown>, headers?: Record<string, string>);
}

export interface SentEvent {
  id?: string;
  event: string;
  data: string;
}

/** Takes bytes as they come and gives the events that are complete. */
export interface EventReader {
  /** Throws a TypeError on invalid UTF-8. */
  push: (bytes: Uint8Array) => SentEvent[];
  /** The last event, where a server leaves out the empty line after it. */
  end: () => SentEvent[];
}

export function createEventReader(): EventReader;

/** The events of an answer, one by one. Who stops early lets go of the answer. */
export function eventsOf(response: Pick<Response, 'body'>): AsyncGenerator<SentEvent>;

export interface TroupeOptions {
  /** Of the platform, such as http://127.0.0.1:3000. */
  url: string;
  /** An API key, `sk_…`. */
  key?: string;
  fetch?: typeof fetch;
  /** Milliseconds until a call is given up; 30,000 unless said, 15 minutes for streams. */
  timeout?: number;
}

export type EndpointName = keyof Endpoints;
type Field<N extends EndpointName, F extends string> =
  Endpoints[N] extends Record<F, infer T>
    ? { [K in F]: T }
    : Endpoints[N] extends Partial<Record<F, infer T>>
      ? { [K in F]?: T }
      : unknown;

/** What an endpoint takes. */
export type CallInput<N extends EndpointName> = Field<N, 'params'> &
  Field<N, 'query'> &
  Field<N, 'body'> &
  Pick<Parts, 'headers' | 'signal' | 'timeout' | 'bytes'>;

/** The input may be left out where nothing of it is needed. */
type Input<N extends EndpointName> = object extends CallInput<N> ? [input?: CallInput<N>] : [input: CallInput<N>];

export interface Said {
  message: string;
  /** The main agent unless said. */
  agentId?: string;
  /** Conversations are kept apart by it. */
  topic?: string;
  signal?: AbortSignal;
}

export interface Troupe {
  call: <N extends EndpointName>(endpoint: N, ...input: Input<N>) => Promise<Endpoints[N]['reply']>;
  /** The same, with the answer untouched: for files. */
  open: <N extends EndpointName>(endpoint: N, ...input: Input<N>) => Promise<Response>;
  /** The same, event by event. */
  stream: <N extends EndpointName>(endpoint: N, ...input: Input<N>) => AsyncGenerator<SentEvent>;
  /** Says something to an agent: its words as they come, and all of them at the end. */
  talk: (said: Said) => AsyncGenerator<string, string>;
}

/** A client of one platform. Every endpoint of the contract is called by its method and path. */
export function createTroupe(options: TroupeOptions): Troupe;
