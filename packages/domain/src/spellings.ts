import { ADDRESS_LENGTH } from './web-address.ts';

/** Other ways to write what a call says, where whoever acts on it sees no difference: a pattern is about what is meant. */

/** A path without detours; of one that leads out of where it began nothing is left in front. */
export function straight(path: string): string {
  const parts: string[] = [];
  for (const part of path.slice(0, ADDRESS_LENGTH).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

/** Whether a path goes up somewhere: of these no pattern can say where they lead. */
export const goesUp = (path: string): boolean => /(?:^|[\\/])\.\.(?:[\\/]|$)/.test(path);

const WEB = /^[\s\p{Cc}]*https?:/iu;
/** No host is longer than 253 characters, and to read one takes the square of its length. */
const SHORT_HOST = /^[^:]*:[\\/]*[^\\/?#]{0,300}(?:[\\/?#]|$)/;

/**
 * An address of the web as a browser reads it, with and without the slash at its end. None: it is no such address; undefined: it
 * is one, and nobody could say of where.
 */
export function addressesIn(value: string): string[] | undefined {
  if (!WEB.test(value)) return [];
  // A browser reads over these.
  const told = value.replaceAll(/[\t\n\r]/g, '');
  const url = told.length <= ADDRESS_LENGTH && SHORT_HOST.test(told) ? URL.parse(told) : null;
  if (!url) return undefined;
  url.username = '';
  url.password = '';
  return [url.href, url.href.replace(/\/$/, '')];
}

/** Run what stands behind them, and their options: `sudo -u x`, `env A=1`. */
const BEFORE =
  /^(?:\w+=\S*|(?:sudo|doas|env|command|builtin|exec|nohup|nice|time|setsid|stdbuf|timeout|xargs|busybox|then|do|else|!)(?:\s+(?:-\S+|\w+=\S*|[\d.]+[smhd]?))*)\s+/;
const MOST_BEFORE = 8;

/** A command without quotes, without what stands before its name, and without the folder that it lies in. */
export function bareCommand(command: string): string {
  let bare = command.replaceAll(/["'\\]/g, '');
  for (let n = 0; n < MOST_BEFORE; n += 1) {
    const less = bare.replace(BEFORE, '');
    if (less === bare) break;
    bare = less;
  }
  return bare.replace(/^\S*\//, '');
}
