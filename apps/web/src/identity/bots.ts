import { AppError, sha256Hex, type Clock, type Counters } from '@troupe/kernel';
import { createChallenge, verifySolution } from 'altcha-lib/v1';

export interface BotFields {
  website?: unknown;
  altcha?: string;
}

export interface Bots {
  /** Throws when a machine filled in the form. */
  check: (fields: BotFields) => Promise<void>;
  challenge: () => Promise<{
    algorithm: 'SHA-256';
    challenge: string;
    maxnumber: number;
    salt: string;
    signature: string;
  }>;
}

interface BotDeps {
  /** Undefined: no challenge is asked for. */
  key: string | undefined;
  counters: Counters;
  clock: Clock;
}

const LIFE_MS = 10 * 60_000;
/** Half of it is hashed on average: a fraction of a second for a browser. */
const MAX_NUMBER = 100_000;

export function createBots({ key, counters, clock }: BotDeps): Bots {
  /** One solution opens one door: it is counted for as long as it could be valid. */
  async function isSolved(altcha: string | undefined): Promise<boolean> {
    if (key === undefined) return true;
    if (!altcha || altcha.length > 2000 || !(await verifySolution(altcha, key).catch(() => false))) return false;
    const { challenge } = JSON.parse(Buffer.from(altcha, 'base64').toString()) as { challenge: string };
    return (await counters.hit(`challenge:${sha256Hex(challenge)}`, LIFE_MS)).count === 1;
  }

  return {
    async check({ website, altcha }) {
      const filled = website !== undefined && website !== null && website !== '';
      if (filled || !(await isSolved(altcha))) throw new AppError(403, 'Access denied');
    },
    async challenge() {
      if (key === undefined) throw new AppError(404, 'No challenge is needed');
      const expires = new Date(clock().getTime() + LIFE_MS);
      const made = await createChallenge({ hmacKey: key, algorithm: 'SHA-256', maxNumber: MAX_NUMBER, expires });
      return { ...made, algorithm: 'SHA-256', maxnumber: MAX_NUMBER };
    },
  };
}
