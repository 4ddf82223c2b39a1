import { CallError, createTransport, errorText, urlOf, type Parts } from '@troupe/client';
import type { Endpoint, EndpointTypes } from './endpoint.ts';

export { CallError, errorText, urlOf };

export interface ClientOptions {
  baseUrl: string;
  /** Sent with every call. */
  headers?: () => Record<string, string>;
  fetch?: typeof fetch;
  /** Milliseconds until a call is given up; 30,000 unless said. */
  timeout?: number;
}

type Named<T> = { [K in keyof T as T[K] extends undefined ? never : K]: T[K] };
type Optional<T> = { [K in keyof T]: object extends T[K] ? K : never }[keyof T];
/** What an endpoint takes; a part of which nothing is needed may be left out. */
type Given<T> = Omit<Named<T>, Optional<Named<T>>> & Partial<Pick<Named<T>, Optional<Named<T>>>>;

export type CallInput<T extends EndpointTypes> = Given<T['sent']> & {
  headers?: Record<string, string>;
  signal?: AbortSignal;
  timeout?: number;
  /** The body of an endpoint that takes a file. */
  bytes?: Blob | Uint8Array<ArrayBuffer>;
};

export type Call = <T extends EndpointTypes>(endpoint: Endpoint<T>, input: CallInput<T>) => Promise<T['reply']>;

export interface Client {
  call: Call;
  /** The same request, with the answer untouched: for streams. A status of 400 or more throws all the same. */
  open: <T extends EndpointTypes>(endpoint: Endpoint<T>, input: CallInput<T>) => Promise<Response>;
}

/** The published client's transport, with endpoints of the contract instead of their names. */
export function createClient(options: ClientOptions): Client {
  const send = createTransport(options);
  const open = (endpoint: Endpoint, input: Parts): Promise<Response> =>
    send(endpoint, endpoint.body === undefined ? { ...input, body: undefined } : input);
  return {
    open: (endpoint, input) => open(endpoint, input as Parts),
    call: async (endpoint, input) => {
      const response = await open(endpoint, input as Parts);
      return (endpoint.reply ? await response.json() : await response.text()) as never;
    },
  };
}
