export { isHexAddress, isPayableAddress } from './address.ts';
export {
  ChainUnavailable,
  createChainClient,
  explorerAddressUrl,
  l2Network,
  stablecoinNetwork,
  type ChainClient,
  type Network,
} from './client.ts';
export { holdsToken } from './gating.ts';
export { createRecover, type Recover } from './recover.ts';
export { createVerifier, type Signer, type Verifier } from './signatures.ts';
export { verifySiwe, type SiweRefusal, type SiweRequest, type SiweResult } from './siwe.ts';
export { L2_USDC, STABLECOINS, type Stablecoin } from './tokens.ts';
export type { Address, Hex } from 'viem';
