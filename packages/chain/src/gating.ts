import { erc20Abi, type Address } from 'viem';
import type { ChainClient } from './client.ts';

/** Does the address hold enough of the gating token? Throws ChainUnavailable when the chain does not say. */
export async function holdsToken(
  chain: ChainClient,
  { token, minBalance, address }: { token: Address; minBalance: bigint; address: Address },
): Promise<boolean> {
  const balance = await chain.read((client) =>
    client.readContract({ abi: erc20Abi, address: token, functionName: 'balanceOf', args: [address] }),
  );
  return balance >= minBalance;
}
