import type { SystemTx } from '@troupe/db';

export const lockInstallation = (tx: SystemTx, userId: string) =>
  tx
    .selectFrom('installations')
    .select(['user_id', 'gateway_token_sealed'])
    .where('user_id', '=', userId)
    .forUpdate()
    .executeTakeFirst();

export interface NewInstallation {
  userId: string;
  mode: 'home' | 'link' | 'cloud';
  /** Undefined: the one that is there stays. */
  tokenSealed: Buffer | undefined;
  at: Date;
}

export const putInstallation = (tx: SystemTx, { userId, mode, tokenSealed, at }: NewInstallation) =>
  tx
    .insertInto('installations')
    .values({ user_id: userId, mode, gateway_token_sealed: tokenSealed ?? null, registered_at: at, last_seen: at })
    .onConflict((conflict) =>
      conflict.column('user_id').doUpdateSet({
        mode,
        last_seen: at,
        quiet: false,
        ...(tokenSealed ? { gateway_token_sealed: tokenSealed } : {}),
      }),
    )
    .execute();

export const touch = (tx: SystemTx, userId: string, at: Date) =>
  tx.updateTable('installations').set({ last_seen: at, quiet: false }).where('user_id', '=', userId).execute();

export const listOf = (tx: SystemTx, userId: string) =>
  tx
    .selectFrom('installations')
    .select(['user_id', 'mode', 'registered_at', 'last_seen'])
    .where('user_id', '=', userId)
    .execute();

/** Those silent since `before`, each told once; only of users who exist. */
export const markQuiet = (tx: SystemTx, before: Date) =>
  tx
    .updateTable('installations')
    .set({ quiet: true })
    .where('quiet', '=', false)
    .where('last_seen', '<', before)
    .returning(['user_id', 'mode'])
    .execute();

export const knownUsers = async (tx: SystemTx, ids: string[]): Promise<Set<string>> => {
  const rows = ids.length === 0 ? [] : await tx.selectFrom('users').select('id').where('id', 'in', ids).execute();
  return new Set(rows.map(({ id }) => id));
};
