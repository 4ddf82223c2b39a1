import type { Address } from 'viem';
import { digitsOf } from './address.ts';
import type { ChainClient } from './client.ts';
import { viem } from './viem.ts';

/** Does the address hold enough of the gating token? Throws ChainUnavailable when the chain does not say. */
export async function holdsToken(
  chain: ChainClient,
  { token, minBalance, address }: { token: Address; minBalance: bigint; address: Address },
): Promise<boolean> {
  return (await tokenBalance(chain, token, address)) >= minBalance;
}

export const tokenBalance = (chain: ChainClient, token: Address, owner: Address): Promise<bigint> =>
  chain.read((client) =>
    client.readContract({
      abi: viem().erc20Abi,
      address: digitsOf(token),
      functionName: 'balanceOf',
      args: [digitsOf(owner)],
    }),
  );
