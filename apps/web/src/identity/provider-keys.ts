import type { Clock, Counters, Outbound } from '@troupe/kernel';
import type { CryptoKey, JWK } from 'jose';
import { askObject } from './ask-json.ts';

/** The provider's keys could not be had: says nothing about what they were to verify. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
}

/** A provider's signing keys, kept for a day; asked for again when a key is not among them. */
export interface ProviderKeys {
  /** Null: the provider has no such key. Throws KeysUnavailable. */
  find: (kid: string, alg: string) => Promise<CryptoKey | null>;
}

interface KeysDeps {
  /** Names the provider among the counters. */
  name: string;
  /** Where the keys are, as the provider's own document says. */
  locate: () => Promise<string>;
  outbound: Outbound;
  counters: Counters;
  clock: Clock;
}

const LIFE_MS = 24 * 3_600_000;
/** Anybody can make up a key's name: that must not turn into a flood at the provider. */
const REFETCHES_A_MINUTE = 10;

export function createProviderKeys({ name, locate, outbound, counters, clock }: KeysDeps): ProviderKeys {
  let known: { keys: JWK[]; until: number } | undefined;
  let fetching: Promise<JWK[]> | undefined;

  async function fetchKeys(): Promise<JWK[]> {
    try {
      const { keys } = await askObject(outbound, await locate());
      if (!Array.isArray(keys)) throw new Error('the key document has no keys');
      const usable = keys.filter((key) => typeof key === 'object' && key !== null) as JWK[];
      known = { keys: usable, until: clock().getTime() + LIFE_MS };
      return usable;
    } catch (cause) {
      throw new KeysUnavailable('the signing keys of the provider cannot be read', { cause });
    } finally {
      fetching = undefined;
    }
  }
  const refetch = () => (fetching ??= fetchKeys());

  return {
    async find(kid, alg) {
      const fresh = known && known.until > clock().getTime();
      const matching = (keys: JWK[]) =>
        keys.find((key) => key.kid === kid && (key.use ?? 'sig') === 'sig' && (key.alg ?? alg) === alg);
      let jwk = matching(fresh ? known!.keys : await refetch());
      if (!jwk && fresh) {
        const { count } = await counters.hit(`provider-keys:${name}`, 60_000);
        if (count <= REFETCHES_A_MINUTE) jwk = matching(await refetch());
      }
      if (!jwk || jwk.kty === 'oct') return null;
      const { importJWK } = await import('jose');
      const key = await importJWK(jwk, alg).catch(() => null);
      return key instanceof Uint8Array ? null : key;
    },
  };
}
