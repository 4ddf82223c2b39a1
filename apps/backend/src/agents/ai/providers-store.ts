import type { SystemTx } from '@troupe/db';

/** Providers that administrators have added and left on, the oldest first: everybody's, so the system's scope. */
export const addedProviders = (tx: SystemTx) =>
  tx
    .selectFrom('ai_providers')
    .select(['id', 'kind', 'name', 'base_url', 'key_sealed', 'models'])
    .where('enabled', '=', true)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
