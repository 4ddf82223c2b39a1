import type { SystemTx } from '@troupe/db';
import { randomHex, sha256Hex, type Clock } from '@troupe/kernel';

const HOUR_MS = 3_600_000;
export const VERIFICATION_LIFE_MS = 24 * HOUR_MS;
export const RESET_LIFE_MS = HOUR_MS;

/** Links that prove an address: to verify it, or to set a new password. Each works once. */
export interface Verification {
  /** False: addresses count as verified without proof. */
  required: boolean;
  startVerify: (tx: SystemTx, user: { id: string; email: string }) => Promise<string>;
  /** The user whose address the token proves, held for the rest of the transaction; null when it proves nothing. */
  finishVerify: (tx: SystemTx, token: string) => Promise<string | null>;
  startReset: (tx: SystemTx, userId: string) => Promise<string>;
  /** Whose password the token may change; null when nobody's. */
  finishReset: (tx: SystemTx, token: string) => Promise<string | null>;
  /** Links that were sent to an address which is no longer the user's must not work. */
  forget: (tx: SystemTx, userId: string) => Promise<void>;
}

interface VerificationDeps {
  clock: Clock;
  required: boolean;
}

export function createVerification({ clock, required }: VerificationDeps): Verification {
  const endOf = (lifeMs: number) => new Date(clock().getTime() + lifeMs);

  return {
    required,
    async startVerify(tx, { id, email }) {
      const token = randomHex(32);
      await tx
        .insertInto('email_verifications')
        .values({ token_hash: sha256Hex(token), user_id: id, email, expires_at: endOf(VERIFICATION_LIFE_MS) })
        .execute();
      return token;
    },
    async finishVerify(tx, token) {
      // Deleting is what makes it work once: of two at the same moment only one gets the row.
      const proof = await tx
        .deleteFrom('email_verifications')
        .where('token_hash', '=', sha256Hex(token))
        .where('expires_at', '>', clock())
        .returning(['user_id', 'email'])
        .executeTakeFirst();
      if (!proof) return null;
      const user = await tx
        .selectFrom('users')
        .select('id')
        .where('id', '=', proof.user_id)
        .where('email', '=', proof.email)
        .forUpdate()
        .executeTakeFirst();
      return user?.id ?? null;
    },
    async startReset(tx, userId) {
      const token = randomHex(32);
      await tx
        .insertInto('password_resets')
        .values({ token_hash: sha256Hex(token), user_id: userId, expires_at: endOf(RESET_LIFE_MS) })
        .execute();
      return token;
    },
    async finishReset(tx, token) {
      const row = await tx
        .deleteFrom('password_resets')
        .where('token_hash', '=', sha256Hex(token))
        .where('expires_at', '>', clock())
        .returning('user_id')
        .executeTakeFirst();
      return row?.user_id ?? null;
    },
    async forget(tx, userId) {
      await tx.deleteFrom('password_resets').where('user_id', '=', userId).execute();
      await tx.deleteFrom('email_verifications').where('user_id', '=', userId).execute();
    },
  };
}
