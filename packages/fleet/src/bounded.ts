import { DriverError } from './driver.ts';

const MOST_BYTES = 8 * 1024 * 1024;

/** The body of an answer that we keep in memory: an agent, or who runs it, may send without an end. */
async function boundedText(response: Response, most = MOST_BYTES): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop by an error cancels the rest.
  for await (const part of response.body ?? []) {
    bytes += part.byteLength;
    if (bytes > most) throw new DriverError(`An answer was larger than ${most / 1024 / 1024} MB`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

export const boundedJson = async (response: Response): Promise<unknown> => JSON.parse(await boundedText(response));
