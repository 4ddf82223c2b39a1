import type { SystemTx } from '@troupe/db';
import { sql } from 'kysely';

export interface GuessRow {
  count: number;
  expires_at: Date;
}

export const findGuesses = (tx: SystemTx, emailHash: string, now: Date): Promise<GuessRow | undefined> =>
  tx
    .selectFrom('password_guesses')
    .select(['count', 'expires_at'])
    .where('email_hash', '=', emailHash)
    .where('expires_at', '>', now)
    .executeTakeFirst();

/** One more; what is over begins anew. Two at once wait for each other. */
export async function addGuess(tx: SystemTx, emailHash: string, { now, ends }: Record<'now' | 'ends', Date>) {
  const { rows } = await sql<GuessRow>`
    insert into password_guesses as g (email_hash, count, expires_at) values (${emailHash}, 1, ${ends})
    on conflict (email_hash) do update set
      count = case when g.expires_at > ${now} then g.count + 1 else 1 end,
      expires_at = case when g.expires_at > ${now} then g.expires_at else ${ends} end
    returning count, expires_at`.execute(tx);
  return rows[0]!;
}

export const dropGuesses = (tx: SystemTx, emailHash: string) =>
  tx.deleteFrom('password_guesses').where('email_hash', '=', emailHash).execute();
