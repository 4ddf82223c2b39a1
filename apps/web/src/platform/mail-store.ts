import type { SystemTx } from '@troupe/db';

/** Mails of an installation without a mail server, where every machine finds them. */

export interface OutboxMail {
  id: string;
  at: Date;
  to: string;
  subject: string;
  message: Buffer;
}

/** A mail that is sent again is the same mail. */
export async function keepMail(tx: SystemTx, { id, at, to, subject, message }: OutboxMail): Promise<void> {
  await tx
    .insertInto('outbox_mails')
    .values({ id, created_at: at, recipient: to, subject, message })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}
