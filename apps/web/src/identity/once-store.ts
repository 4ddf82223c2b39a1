import type { SystemTx } from '@troupe/db';
import { sql } from 'kysely';

/** Tables of what counts within its time, with the column that names it. */
const KEYS = {
  wallet_nonces: 'nonce',
  federated_refresh_tokens: 'token_hash',
  passkey_challenges: 'challenge',
  password_guesses: 'email_hash',
} as const;

/** More than the one that is added, so that what is left over shrinks. */
const SWEEP = 20;

/** Whoever adds one clears away those that nobody used. */
export async function sweepEnded(tx: SystemTx, table: keyof typeof KEYS, now: Date): Promise<void> {
  const [from, key] = [sql.table(table), sql.ref(KEYS[table])];
  const ended = sql`select ${key} from ${from} where expires_at <= ${now} limit ${SWEEP} for update skip locked`;
  await sql`delete from ${from} where ${key} in (${ended})`.execute(tx);
}
