import { textFault } from '../json.ts';

/** Begins a value that is written in percents. No e-mail address and no id has a colon. */
const ENCODED = 'utf-8:';

/** A text as the value of a header, which takes neither letters of most scripts nor control characters. */
export const headerValue = (text: string): string =>
  /^[\x20-\x7E]*$/.test(text) && !text.startsWith(ENCODED) ? text : ENCODED + encodeURIComponent(text.toWellFormed());

/** The text of a header's value; undefined: there is none, or it is none of ours. */
export function headerText(value: string | string[] | undefined): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  if (!value.startsWith(ENCODED)) return value;
  try {
    const text = decodeURIComponent(value.slice(ENCODED.length));
    return text === '' || textFault(text) ? undefined : text;
  } catch {
    // Not written by us: nobody is named.
    return undefined;
  }
}
