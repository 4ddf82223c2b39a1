import type { Audit, SignInMethod } from '@troupe/accounts';
import { isEmail } from '@troupe/contract';
import { withoutWaiting, type Database } from '@troupe/db';
import { countedAddress, type Counters } from '@troupe/kernel';

interface FailedSignIn {
  /** Null: nobody has the address. Only administrators see such an entry. */
  userId: string | null;
  /** What was typed, where nobody has it. */
  email?: string;
  method: SignInMethod;
  reason?: string;
  ip: string;
}

/** Puts sign-ins that failed on record. It does the same work for somebody as for nobody. */
export type FailedSignIns = (failed: FailedSignIn) => Promise<void>;

const HOUR_MS = 3_600_000;
/** Whoever makes addresses up must not fill the log, which only grows. What is about an account is always kept. */
const NOBODY_AN_HOUR = 100;

class NotKept extends Error {}

export function createFailedSignIns(deps: { db: Database; audit: Audit; counters: Counters }): FailedSignIns {
  const { db, audit, counters } = deps;

  return async ({ userId, email, method, reason, ip }) => {
    const { count } = await counters.hit(`failed-sign-ins:${countedAddress(ip)}`, HOUR_MS);
    const typed = userId === null && email !== undefined && isEmail(email) ? email : undefined;
    const write = db.asSystem(async (tx) => {
      // An entry that is kept takes no longer than one that is not.
      await withoutWaiting(tx);
      await audit(tx, { userId, action: 'sign-in-failed', detail: { method, reason, email: typed }, ip });
      if (userId === null && count > NOBODY_AN_HOUR) throw new NotKept();
    });
    await write.catch((error: unknown) => {
      if (!(error instanceof NotKept)) throw error;
    });
  };
}
