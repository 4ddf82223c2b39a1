import { namedProviders, providerOf, tryProvider, type AiSettings, type Provider } from '@troupe/ai';
import { environmentProviders, tryProvider as tryEndpoint } from '@troupe/contract';
import type { Database } from '@troupe/db';
import type { Catalogue } from '@troupe/domain';
import { createCipher, serve, type Log, type Server } from '@troupe/kernel';

export interface ProviderRows {
  /** Those that administrators have added and left on, the oldest first. */
  read: () => Promise<Provider[]>;
}

/** One that cannot be made is left out, and said in the log: it must not take the others with it. */
export function createProviderRows(db: Database, settings: AiSettings, sealKey: string, log: Log): ProviderRows {
  const cipher = createCipher(sealKey, 'ai providers');
  return {
    async read() {
      const rows = await db.system
        .selectFrom('ai_providers')
        .select(['id', 'kind', 'name', 'base_url', 'key_sealed'])
        .where('enabled', '=', true)
        .orderBy('created_at')
        .orderBy('id')
        .execute();
      return rows.flatMap(({ id, kind, name, base_url: baseUrl, key_sealed: sealed }) => {
        try {
          const apiKey = sealed ? cipher.open(sealed, `provider:${id}`) : undefined;
          return [providerOf(settings, { kind, name, baseUrl: baseUrl ?? undefined, apiKey })];
        } catch (err) {
          log.error({ err, provider: name }, 'a provider cannot be used');
          return [];
        }
      });
    },
  };
}

export function providerRoutes(server: Server, catalogue: Catalogue): void {
  serve(server, environmentProviders, () => ({
    providers: namedProviders(server.settings).map((name) => ({ name, baseUrl: null })),
  }));
  serve(server, tryEndpoint, async ({ body: { kind, name = kind, baseUrl, apiKey } }) => {
    const provider = providerOf(server.settings, { kind, name, baseUrl, apiKey });
    try {
      return await tryProvider(provider, kind, catalogue);
    } finally {
      await provider.close();
    }
  });
}
