import { z } from 'zod';

/** No longer one is read as an address. */
export const ADDRESS_LENGTH = 2000;

/** What stands between the scheme and the path; no host is longer than 253 characters. */
const SHORT_HOST = /^[^:]*:[\\/]*[^\\/?#]{0,300}(?:[\\/?#]|$)/;

/** Checked before it is read: to write a host in letters that networks know takes the square of its length. */
export const webAddress = z
  .string()
  .max(ADDRESS_LENGTH, { abort: true })
  .regex(SHORT_HOST, { error: 'Invalid URL', abort: true })
  .check(z.url({ protocol: /^https?$/ }));
