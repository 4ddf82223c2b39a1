import type { Address } from 'viem';
import type { ChainClient } from './client.ts';
import { viem } from './viem.ts';

export interface TokenFacts {
  name: string;
  decimals: number;
}

const DEFAULT_DECIMALS = 6;

/** Name and decimals of tokens, asked once: they do not change. What a token does not say has a default. */
export function createTokenFacts(chain: ChainClient) {
  const known = new Map<string, TokenFacts>();
  return async (token: { address: Address; symbol: string }): Promise<TokenFacts> => {
    const kept = known.get(token.address);
    if (kept) return kept;
    const contract = { abi: viem().erc20Abi, address: token.address } as const;
    const [decimals, name] = await Promise.allSettled([
      chain.viem.readContract({ ...contract, functionName: 'decimals' }),
      chain.viem.readContract({ ...contract, functionName: 'name' }),
    ]);
    const facts = {
      decimals: decimals.status === 'fulfilled' ? decimals.value : DEFAULT_DECIMALS,
      name: name.status === 'fulfilled' && name.value !== '' ? name.value : token.symbol,
    };
    if (decimals.status === 'fulfilled' && name.status === 'fulfilled') known.set(token.address, facts);
    return facts;
  };
}
