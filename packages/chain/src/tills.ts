import type { Address } from 'viem';
import { takesAuthorizations } from './authorizations.ts';
import { ChainUnavailable, type ChainClient } from './client.ts';
import { viem } from './viem.ts';

/** Where a charge can be paid: one token on one chain, to one payee. */
export interface Till {
  chain: ChainClient;
  token: Address;
  payee: Address;
}

/**
 * How the token can be paid over HTTP 402. `authorization`: EIP-3009, any sender settles. `transaction`: TIP-20, which
 * has none of that; the payer signs the whole transaction.
 */
export type TillTerms =
  | { kind: 'authorization'; name: string; version: string; decimals: number }
  | { kind: 'transaction'; decimals: number };

const metadata = () =>
  viem().parseAbi([
    'function name() view returns (string)',
    'function version() view returns (string)',
    'function decimals() view returns (uint8)',
    'function currency() view returns (string)',
  ]);

/** What a token can do does not change: it is asked once. A failed question is asked again. */
export function createTerms({ chain, token }: Till): () => Promise<TillTerms> {
  let terms: Promise<TillTerms> | undefined;
  async function ask(): Promise<TillTerms> {
    const contract = { abi: metadata(), address: token } as const;
    const decimals = await chain.read((client) => client.readContract({ ...contract, functionName: 'decimals' }));
    if (!(await takesAuthorizations(chain, token))) {
      // Every TIP-20 names its currency; what has neither can be paid by nobody over HTTP 402.
      await chain.read((client) => client.readContract({ ...contract, functionName: 'currency' }));
      return { kind: 'transaction', decimals };
    }
    return chain.read(async (client) => {
      const [name, version] = await Promise.all([
        client.readContract({ ...contract, functionName: 'name' }),
        client.readContract({ ...contract, functionName: 'version' }).catch(() => '1'),
      ]);
      return { kind: 'authorization', name, version, decimals };
    });
  }

  return async () => {
    terms ??= ask();
    try {
      return await terms;
    } catch (error) {
      terms = undefined;
      if (error instanceof ChainUnavailable) throw error;
      throw new ChainUnavailable(`${token} is no token that HTTP 402 can be paid in`, { cause: error });
    }
  };
}
