/** Why a page could not be opened, as people say it. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [
    /ERR_TUNNEL_CONNECTION_FAILED|ERR_PROXY|ERR_INVALID_AUTH|ERR_EMPTY_RESPONSE/,
    'it cannot be reached from here: private addresses, other ports than 80 and 443, and domains that the owner does not allow are refused',
  ],
  [/ERR_NAME_NOT_RESOLVED/, 'there is no such host'],
  [/ERR_CERT|ERR_SSL/, 'its certificate is not valid'],
  [/ERR_CONNECTION|ERR_ADDRESS/, 'it does not answer'],
  [/ERR_TOO_MANY_REDIRECTS/, 'it redirects without end'],
  [/ERR_BLOCKED|ERR_UNKNOWN_URL_SCHEME|ERR_DISALLOWED/, 'such an address is not opened'],
];

export const whyNotOpened = (code: string): string =>
  REASONS.find(([sign]) => sign.test(code))?.[1] ?? code.replace(/^net::/, '');
