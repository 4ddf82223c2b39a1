import { normalEmail } from '@troupe/accounts';
import { TOO_MANY_GUESSES } from '@troupe/contract';
import type { Database, SystemTx } from '@troupe/db';
import { AppError, sha256Hex, type Clock } from '@troupe/kernel';
import { addGuess, dropGuesses, findGuesses, type GuessRow } from './guess-store.ts';
import { sweepEnded } from './once-store.ts';

const LIMIT = 20;
const WINDOW_MS = 3_600_000;

/**
 * Counts wrong passwords for one e-mail address, from all addresses and for all processes together. An address that nobody
 * has is refused as one that somebody has.
 */
export interface Guesses {
  /** Runs `verify` and tells its result, or refuses after twenty wrong ones in an hour. */
  guard: (email: string, verify: () => Promise<boolean>) => Promise<boolean>;
  /** Whoever reads the mail of that address is its owner. */
  forget: (tx: SystemTx, email: string) => Promise<unknown>;
}

const hashOf = (email: string): string => sha256Hex(normalEmail(email));

export function createGuesses({ db, clock }: { db: Database; clock: Clock }): Guesses {
  const refusal = ({ expires_at: ends }: GuessRow): AppError => {
    const seconds = Math.max(1, Math.ceil((ends.getTime() - clock().getTime()) / 1000));
    return new AppError(429, TOO_MANY_GUESSES, {}, { headers: { 'retry-after': String(seconds) } });
  };
  async function checkLeft(hash: string): Promise<void> {
    const found = await findGuesses(db.system, hash, clock());
    if (found && found.count >= LIMIT) throw refusal(found);
  }

  return {
    async guard(email, verify) {
      const hash = hashOf(email);
      await checkLeft(hash);
      const matches = await verify();
      // Many tried at once: whatever came true after the twentieth failure does not count.
      if (matches) await checkLeft(hash);
      else {
        const now = clock();
        const counted = await addGuess(db.system, hash, { now, ends: new Date(now.getTime() + WINDOW_MS) });
        await sweepEnded(db.system, 'password_guesses', now);
        if (counted.count > LIMIT) throw refusal(counted);
      }
      return matches;
    },
    forget: (tx, email) => dropGuesses(tx, hashOf(email)),
  };
}
