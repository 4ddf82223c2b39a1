import type { SystemTx } from '@troupe/db';
import { createCipher, newId, type Clock } from '@troupe/kernel';

export type LinkProvider = 'idp1' | 'idp2' | 'wallet';

export interface Link {
  id: string;
  userId: string;
  provider: LinkProvider;
  subject: string;
}

/** What a provider handed out, as it came. */
export type ProviderTokens = Record<string, unknown>;

export interface Links {
  find: (tx: SystemTx, provider: LinkProvider, subject: string) => Promise<Link | null>;
  /** Links, or gives an existing link of the same subject new tokens; whose it is does not change. */
  save: (tx: SystemTx, link: Omit<Link, 'id'> & { tokens?: ProviderTokens }) => Promise<Link>;
  /** The provider's tokens, opened; null when none are kept. */
  tokens: (tx: SystemTx, id: string) => Promise<ProviderTokens | null>;
  dropTokens: (tx: SystemTx, userId: string, provider: LinkProvider) => Promise<void>;
}

/** Where a user is known elsewhere. Provider tokens are sealed to their provider and subject. */
export function createLinks({ clock, secret }: { clock: Clock; secret: string }): Links {
  const cipher = createCipher(secret, 'account links');
  const contextOf = ({ provider, subject }: { provider: string; subject: string }) => `${provider} ${subject}`;
  const toLink = (row: { id: string; user_id: string; provider: string; subject: string }): Link => ({
    id: row.id,
    userId: row.user_id,
    provider: row.provider as LinkProvider,
    subject: row.subject,
  });

  return {
    async find(tx, provider, subject) {
      const row = await tx
        .selectFrom('account_links')
        .select(['id', 'user_id', 'provider', 'subject'])
        .where('provider', '=', provider)
        .where('subject', '=', subject)
        .executeTakeFirst();
      return row ? toLink(row) : null;
    },
    async save(tx, { userId, provider, subject, tokens }) {
      const now = clock();
      const sealed = tokens ? cipher.seal(JSON.stringify(tokens), contextOf({ provider, subject })) : null;
      const row = await tx
        .insertInto('account_links')
        .values({ id: newId(), user_id: userId, provider, subject, tokens: sealed, created_at: now, updated_at: now })
        .onConflict((conflict) =>
          conflict.columns(['provider', 'subject']).doUpdateSet({ tokens: sealed, updated_at: now }),
        )
        .returning(['id', 'user_id', 'provider', 'subject'])
        .executeTakeFirstOrThrow();
      return toLink(row);
    },
    async tokens(tx, id) {
      const row = await tx
        .selectFrom('account_links')
        .select(['provider', 'subject', 'tokens'])
        .where('id', '=', id)
        .executeTakeFirst();
      return row?.tokens ? (JSON.parse(cipher.open(row.tokens, contextOf(row))) as ProviderTokens) : null;
    },
    async dropTokens(tx, userId, provider) {
      await tx
        .updateTable('account_links')
        .set({ tokens: null, updated_at: clock() })
        .where('user_id', '=', userId)
        .where('provider', '=', provider)
        .execute();
    },
  };
}
