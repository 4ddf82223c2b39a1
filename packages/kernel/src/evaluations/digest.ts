import { sha256Hex } from '../secrets.ts';

/** The cases of an agent as they are now: what has passed is known by it. */
export const casesDigest = (cases: readonly { id: string; revision: number }[]): string =>
  sha256Hex(
    cases
      .map(({ id, revision }) => `${id}:${revision}`)
      .toSorted()
      .join('\n'),
  );
