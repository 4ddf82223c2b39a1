import type { Address } from 'viem';

export interface Stablecoin {
  symbol: string;
  address: Address;
}

/** The stablecoins that a balance is made of, in the order in which the first funded one is the primary. */
export const STABLECOINS: readonly Stablecoin[] = [
  { symbol: 'pathUSD', address: '0x20c0000000000000000000000000000000000000' },
  { symbol: 'alphaUSD', address: '0x20c0000000000000000000000000000000000001' },
  { symbol: 'betaUSD', address: '0x20c0000000000000000000000000000000000002' },
  { symbol: 'thetaUSD', address: '0x20c0000000000000000000000000000000000003' },
  { symbol: 'USDC.e', address: '0x20c000000000000000000000b9537d11c60e8b50' },
  { symbol: 'EURC.e', address: '0x20c0000000000000000000001621e21f71cf12fb' },
  { symbol: 'USDT0', address: '0x20c00000000000000000000014f22ca97301eb73' },
  { symbol: 'frxUSD', address: '0x20c0000000000000000000003554d28269e0f3c2' },
  { symbol: 'cUSD', address: '0x20c0000000000000000000000520792dcccccccc' },
  { symbol: 'stcUSD', address: '0x20c0000000000000000000008ee4fcff88888888' },
  { symbol: 'GUSD', address: '0x20c0000000000000000000005c0bac7cef389a11' },
];

/** USDC on the L2 network: what agent wallets hold and splits are paid in. */
export const L2_USDC: Address = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
