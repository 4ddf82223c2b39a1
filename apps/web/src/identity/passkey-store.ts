import { isDuplicate, type SystemTx } from '@troupe/db';
import { sweepEnded } from './once-store.ts';
import type { KnownPasskey, NewPasskey } from './passkeys.ts';

export interface Challenge {
  challenge: string;
  purpose: 'add' | 'sign-in' | 'second-step' | 'confirm';
  /** Null: whoever has a passkey. */
  userId: string | null;
  /** The session, or the step of a sign-in, that it is for. */
  boundTo: string | null;
}

export async function addChallenge(tx: SystemTx, given: Challenge, expiresAt: Date, now: Date): Promise<void> {
  const { challenge, purpose, userId, boundTo } = given;
  await sweepEnded(tx, 'passkey_challenges', now);
  await tx
    .insertInto('passkey_challenges')
    .values({ challenge, purpose, user_id: userId, bound_to: boundTo, expires_at: expiresAt })
    .execute();
}

/** Deleting is what makes it work once: of two at the same moment only one gets the row. */
export async function takeChallenge(tx: SystemTx, given: Challenge, now: Date): Promise<boolean> {
  const row = await tx
    .deleteFrom('passkey_challenges')
    .where('challenge', '=', given.challenge)
    .where('purpose', '=', given.purpose)
    .where('user_id', 'is not distinct from', given.userId)
    .where('bound_to', 'is not distinct from', given.boundTo)
    .where('expires_at', '>', now)
    .returning('challenge')
    .executeTakeFirst();
  return row !== undefined;
}

/** Held for the rest of the transaction, so that its count of signatures only rises. */
export async function findPasskey(tx: SystemTx, credentialId: string): Promise<(KnownPasskey & { id: string }) | null> {
  const row = await tx
    .selectFrom('second_factors')
    .select(['id', 'user_id', 'public_key', 'sign_count'])
    .where('credential_id', '=', credentialId)
    .where('confirmed_at', 'is not', null)
    .forUpdate()
    .executeTakeFirst();
  return row
    ? { id: row.id, userId: row.user_id, publicKey: row.public_key!, signCount: Number(row.sign_count) }
    : null;
}

export async function notePasskeyUse(tx: SystemTx, id: string, signCount: number, now: Date): Promise<void> {
  await tx
    .updateTable('second_factors')
    .set({ sign_count: BigInt(signCount), last_used_at: now })
    .where('id', '=', id)
    .execute();
}

export const passkeysOf = (tx: SystemTx, userId: string) =>
  tx
    .selectFrom('second_factors')
    .select(['credential_id', 'transports'])
    .where('user_id', '=', userId)
    .where('kind', '=', 'passkey')
    .where('confirmed_at', 'is not', null)
    .execute();

/** False: it is known already, here or to somebody else. */
export async function insertPasskey(
  tx: SystemTx,
  { id, userId, name, now }: { id: string; userId: string; name: string; now: Date },
  passkey: NewPasskey,
): Promise<boolean> {
  try {
    await tx
      .insertInto('second_factors')
      .values({
        id,
        user_id: userId,
        kind: 'passkey',
        name,
        created_at: now,
        confirmed_at: now,
        credential_id: passkey.credentialId,
        public_key: passkey.publicKey,
        sign_count: BigInt(passkey.signCount),
        transports: passkey.transports,
      })
      .execute();
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}
