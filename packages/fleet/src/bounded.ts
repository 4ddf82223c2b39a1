import { createPieceCount, Gathered, parseAnswer } from '@troupe/kernel';
import { DriverError } from './driver.ts';

const MOST_BYTES = 8 * 1024 * 1024;

/** The body of an answer that we keep in memory: an agent, or who runs it, may send without an end. */
async function boundedText(response: Response, most = MOST_BYTES): Promise<string> {
  const all = new Gathered();
  const count = createPieceCount();
  // Leaving the loop by an error cancels the rest.
  for await (const part of response.body ?? []) {
    all.add(part);
    if (all.length > most) throw new DriverError(`An answer was larger than ${most / 1024 / 1024} MB`);
    if (!count(part.byteLength)) throw new DriverError('An answer came in too many small pieces');
  }
  return all.take().toString('utf8');
}

export const boundedJson = async (response: Response): Promise<unknown> => parseAnswer(await boundedText(response));
