/** Where a program may have people sent back to. */

/** Schemes that a browser acts on by itself; whatever else has one is a program's own. */
const NOT_OURS = new Set(
  'about blob chrome data file filesystem ftp http https jar javascript mailto resource vbscript view-source ws wss'.split(
    ' ',
  ),
);

const isLoopback = (hostname: string): boolean => ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);

/** No host is longer; to read one takes the square of its length, and anybody may register twenty. */
const LONGEST_HOST = 300;

export function isRedirect(given: string): boolean {
  if ((/^[^:]*:[\\/]*([^\\/?#]*)/.exec(given)?.[1] ?? '').length > LONGEST_HOST) return false;
  const url = URL.parse(given);
  if (!url || url.hash !== '' || given.includes('#') || url.username !== '' || url.password !== '') return false;
  const scheme = url.protocol.slice(0, -1);
  if (scheme === 'https') return true;
  if (scheme === 'http') return isLoopback(url.hostname);
  return !NOT_OURS.has(scheme) && /^[a-z][a-z0-9+.-]+:\/\//.test(given);
}

/** To a program on the person's own machine, whoever may have sent her here. */
export function isLocal(given: string): boolean {
  const url = URL.parse(given);
  return url?.protocol === 'http:' && isLoopback(url.hostname);
}

/** A program on this machine listens on whatever port is free (RFC 8252); everything else is the same to the letter. */
export function matchesRedirect(given: string, registered: readonly string[]): boolean {
  if (registered.includes(given)) return true;
  const url = URL.parse(given);
  if (url?.protocol !== 'http:' || !isLoopback(url.hostname) || !isRedirect(given)) return false;
  url.port = '';
  return registered.some((one) => {
    const other = URL.parse(one);
    if (other?.protocol !== 'http:') return false;
    other.port = '';
    return other.href === url.href;
  });
}

/** The address with the answer in it. */
export function withAnswer(redirect: string, answer: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(redirect);
  for (const [name, value] of Object.entries(answer)) if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}
