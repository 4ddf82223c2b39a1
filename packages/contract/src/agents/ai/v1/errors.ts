/** What each protocol's clients look for in an error. One row a status; a status that is not here counts as its hundred. */

export type ErrorShape = 'openai' | 'anthropic';

const TYPES: Readonly<Record<number, readonly [openai: string, anthropic: string]>> = {
  400: ['invalid_request_error', 'invalid_request_error'],
  401: ['authentication_error', 'authentication_error'],
  402: ['billing_error', 'billing_error'],
  403: ['permission_error', 'permission_error'],
  404: ['not_found_error', 'not_found_error'],
  413: ['invalid_request_error', 'request_too_large'],
  429: ['rate_limit_error', 'rate_limit_error'],
  500: ['server_error', 'api_error'],
  503: ['server_error', 'overloaded_error'],
  504: ['server_error', 'timeout_error'],
};

export const errorType = (shape: ErrorShape, status: number): string =>
  (TYPES[status] ?? TYPES[status >= 500 ? 500 : 400])![shape === 'openai' ? 0 : 1];

/** `body` is what other endpoints answer: `error` is the sentence, the rest says more about it; `error_type` names its kind. */
export function shapedError(
  shape: ErrorShape,
  status: number,
  body: Readonly<Record<string, unknown>>,
  requestId?: string,
): Record<string, unknown> {
  const { error: message, message: _, type: __, error_type: named, ...more } = body;
  const type = shape === 'anthropic' && typeof named === 'string' ? named : errorType(shape, status);
  if (shape === 'anthropic')
    return {
      type: 'error',
      error: { type, message, ...more },
      ...(requestId === undefined ? {} : { request_id: requestId }),
    };
  return { error: { message, type, code: null, param: null, ...more } };
}

/** Of a path that both protocols have: only the clients of one name the version of it. */
export const shapeFor = (headers: Readonly<Record<string, unknown>>): ErrorShape =>
  headers['anthropic-version'] === undefined ? 'openai' : 'anthropic';
