import type { Catalogue } from '@troupe/domain';
import { sha256Hex } from '@troupe/kernel';
import type { Provider } from './provider.ts';
import { createRouting, type Candidate, type Routing } from './routing.ts';
import type { OwnKey } from './types.ts';

/** Calls on somebody's own account at a provider. Never on another one: what that key cannot do is not done. */
export interface OwnKeys {
  /** Undefined: there is no such provider here. */
  candidates: (key: OwnKey, model: string | undefined) => Candidate[] | undefined;
  close: () => Promise<void>;
}

/** Beyond it the one that was made first is closed; it is made again when it is needed. */
const MAX_KEPT = 200;

export function createOwnKeys(
  make: (name: string, apiKey: string) => Provider | undefined,
  catalogue: Catalogue,
): OwnKeys {
  const kept = new Map<string, { provider: Provider; routing: Routing }>();

  function routingOf({ provider: name, apiKey }: OwnKey): Routing | undefined {
    const id = `${name} ${sha256Hex(apiKey)}`;
    const known = kept.get(id);
    if (known) return known.routing;
    const provider = make(name, apiKey);
    if (!provider) return undefined;
    const routing = createRouting([provider], catalogue);
    kept.set(id, { provider, routing });
    const [oldest] = kept;
    if (kept.size > MAX_KEPT && oldest) {
      kept.delete(oldest[0]);
      void oldest[1].provider.close();
    }
    return routing;
  }

  return {
    candidates(key, model) {
      const routing = routingOf(key);
      if (!routing) return undefined;
      const served = model !== undefined && routing.served(model);
      return routing.candidates(served ? model : undefined, undefined, undefined);
    },
    close: async () => {
      await Promise.all([...kept.values()].map(({ provider }) => provider.close()));
    },
  };
}
