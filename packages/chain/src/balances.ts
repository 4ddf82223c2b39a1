import type { Address } from 'viem';
import type { Log } from '@troupe/kernel';
import { digitsOf } from './address.ts';
import { ChainUnavailable, type ChainClient } from './client.ts';
import { createTokenFacts } from './token-facts.ts';
import { STABLECOINS, type Stablecoin } from './tokens.ts';
import { viem } from './viem.ts';

export interface TokenBalance {
  address: Address;
  name: string;
  symbol: string;
  decimals: number;
  balance: string;
}

export interface StablecoinBalances {
  address: Address;
  chain: string;
  chainId: number;
  testnet: boolean;
  totalUsd: string;
  primaryToken: TokenBalance | null;
  allTokens: Omit<TokenBalance, 'decimals'>[];
}

interface Held {
  token: Stablecoin;
  name: string;
  decimals: number;
  units: bigint;
}

/** Reads all stablecoin balances of an address in one request. A token that does not answer is left out and logged. */
export function createBalances({ chain, log }: { chain: ChainClient; log: Log }) {
  const factsOf = createTokenFacts(chain);

  async function hold(token: Stablecoin, owner: Address): Promise<Held> {
    const [units, { name, decimals }] = await Promise.all([
      chain.viem.readContract({
        abi: viem().erc20Abi,
        address: token.address,
        functionName: 'balanceOf',
        args: [digitsOf(owner)],
      }),
      factsOf(token),
    ]);
    return { token, name, decimals, units };
  }

  return async (owner: Address): Promise<StablecoinBalances> => {
    const answers = await chain.read(() => Promise.allSettled(STABLECOINS.map((token) => hold(token, owner))));
    const held = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    if (held.length === 0) throw new ChainUnavailable('no token answers');
    if (held.length < answers.length) {
      const silent = STABLECOINS.filter((_, index) => answers[index]?.status === 'rejected');
      log.warn({ tokens: silent.map(({ symbol }) => symbol) }, 'stablecoins without an answer left out of a balance');
    }
    return summary(chain, owner, held);
  };
}

function summary({ network }: ChainClient, owner: Address, held: Held[]): StablecoinBalances {
  const funded = held
    .filter(({ units }) => units > 0n)
    .map(({ token, name, decimals, units }) => ({
      address: token.address,
      name,
      symbol: token.symbol,
      decimals,
      balance: viem().formatUnits(units, decimals),
    }));
  return {
    address: owner,
    chain: network.name,
    chainId: network.id,
    testnet: network.testnet,
    totalUsd: totalUsd(held),
    primaryToken: funded[0] ?? null,
    allTokens: funded.map(({ address, name, symbol, balance }) => ({ address, name, symbol, balance })),
  };
}

/** The sum in cents, rounded down: nobody is shown more than there is. */
function totalUsd(held: Held[]): string {
  const scale = Math.max(2, ...held.map(({ decimals }) => decimals));
  const sum = held.reduce((total, { units, decimals }) => total + units * 10n ** BigInt(scale - decimals), 0n);
  const cents = sum / 10n ** BigInt(scale - 2);
  return `${cents / 100n}.${(cents % 100n).toString().padStart(2, '0')}`;
}
