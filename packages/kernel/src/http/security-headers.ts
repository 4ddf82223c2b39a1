/** Unless an answer says otherwise, nobody on the way and no disk keeps it: most of them are somebody's. */
const NOT_KEPT = { 'cache-control': 'no-store' };

/** For answers that are data: a browser that is led to open one must neither run, frame nor embed it. */
export const DATA_HEADERS = {
  ...NOT_KEPT,
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** For the service that has pages. */
export const PAGE_HEADERS = {
  ...NOT_KEPT,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'strict-origin-when-cross-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  'content-security-policy':
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'self'; frame-ancestors 'none'",
};
