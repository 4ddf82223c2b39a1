import { CallError, createClient, eventsOf, urlOf } from '@troupe/contract';
import type { CallInput, Client, Endpoint, EndpointTypes } from '@troupe/contract';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { check } from './checks.ts';
import { states } from './texts/common.ts';
import type { QueryClient, UseMutationResult, UseQueryResult } from '@tanstack/react-query';

/** Same origin: the session cookie goes with every call. */
const client = createClient({ baseUrl: '', fetch: reach });

export const call: Client['call'] = async (endpoint, input) => {
  check(endpoint, input);
  return client.call(endpoint, input);
};

/** The same with the answer untouched: for streams. */
export const open: Client['open'] = async (endpoint, input) => {
  check(endpoint, input);
  return client.open(endpoint, input);
};

/** A platform that cannot be reached has status 0, and is said in words; the browser's own are for its makers. */
async function reach(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    return await fetch(input, init);
  } catch (error) {
    const { name } = error as Error;
    if (name === 'AbortError') throw error;
    throw new CallError(0, { error: name === 'TimeoutError' ? states.noAnswer : states.unreachable });
  }
}

type Keyed = Pick<Endpoint, 'method' | 'path'>;
const keyOf = (endpoint: Keyed, input: unknown) => [endpoint.path, endpoint.method, input] as const;

interface ReadOptions {
  enabled?: boolean;
  /** False: the first error is told at once, for what may well not be there. */
  retry?: false;
  /** Milliseconds between refreshes, for what moves by itself. */
  every?: number;
  /** Shows the last answer while another input loads: for period switches and paging. */
  keep?: boolean;
}

/** Reads an endpoint of the contract; answers are shared between components by endpoint and input. */
export function useCall<T extends EndpointTypes>(
  endpoint: Endpoint<T>,
  input: CallInput<T>,
  { enabled = true, every, keep, retry }: ReadOptions = {},
): UseQueryResult<T['reply']> {
  return useQuery<T['reply']>({
    queryKey: keyOf(endpoint, input),
    queryFn: ({ signal }) => call(endpoint, { ...input, signal }),
    enabled,
    ...(retry === false && { retry }),
    refetchInterval: every,
    placeholderData: keep ? (keepPreviousData as never) : undefined,
  });
}

/** The same for a list of inputs, for `useQueries`. */
export const callQuery = <T extends EndpointTypes>(endpoint: Endpoint<T>, input: CallInput<T>, every?: number) => ({
  queryKey: keyOf(endpoint, input),
  queryFn: ({ signal }: { signal: AbortSignal }): Promise<T['reply']> => call(endpoint, { ...input, signal }),
  refetchInterval: every,
});

export interface SendOptions<T extends EndpointTypes> {
  /** Reads that are stale after the call. */
  refresh?: Keyed[];
  done?: (reply: T['reply'], input: CallInput<T>) => void;
}

let askWho: (() => Promise<boolean>) | undefined;

/** Sets who asks a person to show again who they are; answers how to unset it. */
export function onConfirmFirst(ask: () => Promise<boolean>): () => void {
  askWho = ask;
  return () => {
    if (askWho === ask) askWho = undefined;
  };
}

/** Asks at once, for what is not called by a script: a download. False: the person let it be. */
export const confirmWho = async (): Promise<boolean> => (await askWho?.()) ?? false;

/** Calls an endpoint; where the session has to be confirmed first the person is asked, and it is called once more. */
export async function carefully<T extends EndpointTypes>(
  endpoint: Endpoint<T>,
  input: CallInput<T>,
): Promise<T['reply']> {
  try {
    return await call(endpoint, input);
  } catch (error) {
    if (codeOf(error) !== 'CONFIRM_FIRST' || !(await askWho?.())) throw error;
    return call(endpoint, input);
  }
}

/** Calls an endpoint that changes something. */
export function useSend<T extends EndpointTypes>(
  endpoint: Endpoint<T>,
  { refresh = [], done }: SendOptions<T> = {},
): UseMutationResult<T['reply'], Error, CallInput<T>> {
  const queries = useQueryClient();
  return useMutation<T['reply'], Error, CallInput<T>>({
    mutationKey: [endpoint.path, endpoint.method],
    mutationFn: (input) => carefully(endpoint, input),
    onSuccess: async (reply, input) => {
      await stale(queries, ...refresh);
      done?.(reply, input);
    },
  });
}

export async function stale(queries: QueryClient, ...endpoints: Keyed[]): Promise<void> {
  await Promise.all(endpoints.map(({ path, method }) => queries.invalidateQueries({ queryKey: [path, method] })));
}

export const statusOf = (error: unknown) => (error instanceof CallError ? error.status : undefined);
/** What a program goes by; the message is for people. */
export const codeOf = (error: unknown) => (error instanceof CallError ? error.body['code'] : undefined);

export { eventsOf, urlOf };
