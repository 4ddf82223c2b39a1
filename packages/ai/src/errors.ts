import { AppError } from '@troupe/kernel';

export type FailureKind =
  /** Nothing came in time. */
  | 'timeout'
  /** No connection, or it broke before the answer was whole. */
  | 'connection'
  /** An answer that cannot be used: not JSON, no choices, an error inside a 200, half a stream. */
  | 'broken'
  /** A status of 400 or more. */
  | 'status';

/** One provider failed at one call. `detail` is the provider's own text, already free of keys. */
export class ProviderError extends Error {
  readonly provider: string;
  readonly kind: FailureKind;
  readonly status: number | undefined;
  readonly detail: string;
  /** What the provider says about when to come again, in seconds. */
  readonly retryAfter: number | undefined;

  constructor(provider: string, kind: FailureKind, detail: string, status?: number, retryAfter?: number) {
    super(`${provider}: ${detail}`);
    this.name = 'ProviderError';
    this.provider = provider;
    this.kind = kind;
    this.detail = detail;
    this.status = status;
    this.retryAfter = retryAfter;
  }

  /** The request itself is at fault, so another model would refuse it too. Gemini says 400 of a key, too: that is ours. */
  get callersFault(): boolean {
    if (this.status === 400) return !/\bapi[ _]key\b/i.test(this.detail);
    return this.status === 413 || this.status === 422;
  }
}

/**
 * What the caller of the platform is told. An answer with a status is a 500, no usable answer is a 502; only that it is
 * asked too often is for the caller to act on, and stays what it is.
 */
export function toAppError(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error;
  const { provider, kind, status, detail } = error;
  if (error.callersFault) return new AppError(400, `${provider} refused the request: ${detail}`, {}, { cause: error });
  if (status === 429) {
    const headers: Record<string, string> =
      error.retryAfter === undefined ? {} : { 'retry-after': String(error.retryAfter) };
    return new AppError(429, `AI provider ${provider} answered 429`, {}, { cause: error, headers });
  }
  if (kind === 'status') return new AppError(500, `AI provider ${provider} answered ${status}`, {}, { cause: error });
  const text = {
    timeout: 'did not answer in time',
    connection: 'could not be reached',
    broken: 'sent an answer that cannot be used',
  }[kind];
  return new AppError(502, `AI provider ${provider} ${text}`, {}, { cause: error });
}

const MAX_DETAIL = 300;

/** Providers like to repeat the key they did not accept, whole or in part. */
export function withoutSecrets(text: string, secret: string | undefined): string {
  const plain = secret ? text.replaceAll(secret, '[redacted]') : text;
  return plain.replace(/\b(sk|rk|gsk|key|AIza)[-_][\w*.-]{6,}/g, '[redacted]').slice(0, MAX_DETAIL);
}

const MAX_WAIT_S = 86_400;

/** The seconds of a Retry-After, which is a number of them or a date; undefined: none that makes sense. */
export function secondsToWait(given: string | string[] | undefined, now: number): number | undefined {
  if (typeof given !== 'string') return undefined;
  const text = given.trim();
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Math.ceil(Number(text)) : Math.ceil((Date.parse(text) - now) / 1000);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), MAX_WAIT_S) : undefined;
}
