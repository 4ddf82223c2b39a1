export type OutboundErrorKind = 'blocked' | 'timeout' | 'too_large' | 'redirects' | 'network' | 'bad_url';

const MESSAGES: Record<OutboundErrorKind, string> = {
  blocked: 'Target address not allowed',
  timeout: 'Target did not answer in time',
  too_large: 'Response too large',
  redirects: 'Too many redirects',
  network: 'Target could not be reached',
  bad_url: 'Invalid URL',
};

/** Why nothing came back. The message is safe to show: it names no address and no internals; `cause` is for the log. */
export class OutboundError extends Error {
  readonly kind: OutboundErrorKind;

  constructor(kind: OutboundErrorKind, options: { message?: string; cause?: unknown } = {}) {
    super(options.message ?? MESSAGES[kind], options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'OutboundError';
    this.kind = kind;
  }
}

const TIMEOUTS = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
  'ERR_SOCKET_CONNECTION_TIMEOUT',
]);

/** The outbound error that stands for whatever a socket, the HTTP parser or a decompressor threw. */
export function outboundError(cause: unknown): OutboundError {
  if (cause instanceof OutboundError) return cause;
  const errors: unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  const blocked = errors.find((error) => error instanceof OutboundError);
  if (blocked) return blocked;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
  if (TIMEOUTS.has(code)) return new OutboundError('timeout', { cause });
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return new OutboundError('too_large', { cause });
  return new OutboundError('network', { cause });
}
