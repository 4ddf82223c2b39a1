import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * What an answer holds, into a file or onto the output.
 * @param {Response} response
 * @param {string} to
 */
export async function save(response, to) {
  const { body } = response;
  const from = body === null ? Readable.from([]) : Readable.fromWeb(/** @type {never} */ (body));
  await (to === '-'
    ? pipeline(from, process.stdout, { end: false })
    : pipeline(from, createWriteStream(to, { flags: 'wx' })));
}
