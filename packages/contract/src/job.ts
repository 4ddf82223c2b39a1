import type { z } from 'zod';

/**
 * A job and a signal are described once, as endpoints are: whoever sends and whoever works take the same object, so that
 * neither names a queue or a channel, and what is stored is checked before it is worked on.
 */

export interface JobOptions {
  /** Tries after the first one. */
  retryLimit?: number;
  /** Instead: tried until it is done, and never forgotten. Where money or a promise hangs on it. */
  untilDone?: boolean;
  /** Before the second try; doubles from then on. */
  retryDelaySeconds?: number;
  retryDelayMaxSeconds?: number;
  /** A job that takes longer counts as failed. */
  expireSeconds?: number;
  /** What `key` of a job means; `short`: one waiting job for each key. */
  policy?: 'short';
}

export interface Job<Data extends object = object> extends JobOptions {
  readonly queue: string;
  readonly data: z.ZodType<Data>;
}

export const job = <Data extends object>(given: Job<Data>): Job<Data> => given;

export interface Signal<Payload = unknown> {
  readonly channel: string;
  readonly payload: z.ZodType<Payload>;
  /** `text`: the payload is a text and goes as it is, as the database itself sends it. JSON unless said. */
  readonly as?: 'text';
}

/** Told to all processes of the platform. */
export const signal = <Payload>(given: Signal<Payload>): Signal<Payload> => given;
