import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors.ts';
import { NO_NULL_CHARACTERS } from '../json.ts';
import { isLoopbackHost, type Settings } from '../settings.ts';

/** What is checked about a request before anything else looks at it. */

/**
 * `.` and `..` as parts of a path, also where they or the slashes beside them are encoded: whoever builds an address from
 * them, or stands before us and has undone that, means another one.
 */
const DOTS = /(?:^|\/|%2f|\\|%5c)(?:\.|%2e){1,2}(?:\/|%2f|\\|%5c|$)/i;

/** 400 for an address that no client of ours makes. */
export function checkAddress(url: string): void {
  if (url.includes('%00')) throw new AppError(400, NO_NULL_CHARACTERS);
  // Asked with every request: most have neither.
  if (!url.includes('.') && !/%2e/i.test(url)) return;
  const end = url.indexOf('?');
  if (DOTS.test(end < 0 ? url : url.slice(0, end)))
    throw new AppError(400, 'A part of the path must not be "." or ".."');
}

/** The path and query of a request as a URL. A path that begins with two slashes is no host name here. */
export function requestUrl(path: string): URL {
  checkAddress(path);
  const url = path.startsWith('/') ? URL.parse(`http://agent${path}`) : null;
  if (!url) throw new AppError(400, 'The address is not valid');
  return url;
}

/** 400 for a request that names two hosts: whoever stands before us may have looked at the other one. */
export function checkOneHost(rawHeaders: readonly string[]): void {
  let hosts = 0;
  // Asked with every request: the length tells most names apart.
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.length === 4 && rawHeaders[at]!.toLowerCase() === 'host') hosts += 1;
  if (hosts > 1) throw new AppError(400, 'A request must have one Host header');
}

type Named = Pick<Settings, 'BASE_URL' | 'BACKEND_URL' | 'SUMMARIZER_URL' | 'AGENTS_DOMAIN'>;

/**
 * Under the loopback rule a page on the internet could otherwise reach the service by a name of its own that leads to
 * this machine, and would pass for the machine's user: only names that the operator knows are answered.
 */
export function hostCheck(settings: Named, url: string): (host: string | undefined) => void {
  const names = new Set(
    [settings.BASE_URL, settings.BACKEND_URL, settings.SUMMARIZER_URL]
      .filter((address) => address !== undefined)
      .map((address) => new URL(address).hostname.toLowerCase()),
  );
  const domain = settings.AGENTS_DOMAIN.toLowerCase();
  const isOurs = (name: string): boolean =>
    isLoopbackHost(name) || names.has(name) || name === domain || name.endsWith(`.${domain}`);
  // Almost every request shows the same one; a stranger's names are not kept.
  let last: string | undefined;
  return (host) => {
    // A browser always sends one.
    if (host === undefined || host === last) return;
    const name = host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
    if (!isOurs(name))
      throw new AppError(
        421,
        `This host name is not answered here: open ${settings.BASE_URL ?? url}, or set BASE_URL to the address that you use`,
      );
    last = host;
  };
}

export type CheckHosts = (request: Pick<IncomingMessage, 'headers' | 'rawHeaders'>) => void;

/** One host, whatever it is, and that as `check` wants it. */
export const hostsCheck =
  (check: ReturnType<typeof hostCheck> = () => {}): CheckHosts =>
  ({ headers, rawHeaders }) => {
    checkOneHost(rawHeaders);
    check(headers.host);
  };
