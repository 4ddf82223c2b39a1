import { providerOf, type AiSettings, type Provider } from '@troupe/ai';
import type { Database } from '@troupe/db';
import { createCipher, type Log } from '@troupe/kernel';
import { addedProviders } from './providers-store.ts';

/** One that cannot be made is left out, and said in the log: it must not take the others with it. */
export function createAddedProviders(db: Database, settings: AiSettings, sealKey: string, log: Log) {
  const cipher = createCipher(sealKey, 'ai providers');
  return async (): Promise<Provider[]> =>
    (await addedProviders(db.system)).flatMap(({ id, kind, name, base_url: baseUrl, key_sealed: sealed, models }) => {
      try {
        const apiKey = sealed ? cipher.open(sealed, `provider:${id}`) : undefined;
        return [
          providerOf(settings, { kind, name, baseUrl: baseUrl ?? undefined, apiKey, models: models ?? undefined }),
        ];
      } catch (err) {
        log.error({ err, provider: name }, 'a provider cannot be used');
        return [];
      }
    });
}
