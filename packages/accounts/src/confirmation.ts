import { CONFIRM_FIRST } from '@troupe/contract';
import type { SystemTx } from '@troupe/db';
import { AppError, type Clock, type User } from '@troupe/kernel';

/** What must not be done with a session that somebody else has got hold of asks again who it is. */
export interface Confirmation {
  /** Until when the session counts as just confirmed; null: it does not. Signing in confirms it, too. */
  until: (tx: SystemTx, sessionId: string) => Promise<Date | null>;
  /** Throws unless the session was opened or confirmed within a quarter of an hour. */
  require: (tx: SystemTx, user: Who) => Promise<void>;
  /** The same for those with a second factor; everybody else goes on as ever. */
  requireOfCareful: (tx: SystemTx, user: Who) => Promise<void>;
  note: (tx: SystemTx, sessionId: string) => Promise<void>;
}

type Who = Pick<User, 'id' | 'sessionId'>;

const LIFE_MS = 15 * 60_000;

export function createConfirmation({ clock }: { clock: Clock }): Confirmation {
  async function until(tx: SystemTx, sessionId: string): Promise<Date | null> {
    const row = await tx
      .selectFrom('sessions')
      .select(['created_at', 'confirmed_at'])
      .where('id', '=', sessionId)
      .executeTakeFirst();
    if (!row) return null;
    const end = new Date((row.confirmed_at ?? row.created_at).getTime() + LIFE_MS);
    return end > clock() ? end : null;
  }

  async function require(tx: SystemTx, { sessionId }: Who): Promise<void> {
    if (sessionId === null || (await until(tx, sessionId)) === null)
      throw new AppError(403, CONFIRM_FIRST, { code: 'CONFIRM_FIRST' });
  }

  return {
    until,
    require,
    async requireOfCareful(tx, user) {
      const factor = await tx
        .selectFrom('second_factors')
        .select('id')
        .where('user_id', '=', user.id)
        .where('confirmed_at', 'is not', null)
        .limit(1)
        .executeTakeFirst();
      if (factor) await require(tx, user);
    },
    async note(tx, sessionId) {
      await tx.updateTable('sessions').set({ confirmed_at: clock() }).where('id', '=', sessionId).execute();
    },
  };
}
