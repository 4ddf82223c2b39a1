export { isHexAddress, isPayableAddress, isPayee } from './address.ts';
export {
  ChainUnavailable,
  createChainClient,
  explorerAddressUrl,
  l2Network,
  stablecoinNetwork,
  type ChainClient,
  type Network,
} from './client.ts';
export { holdsToken, tokenBalance } from './gating.ts';
export { createRecover, type Recover } from './recover.ts';
export { createVerifier, type Signer, type Verifier } from './signatures.ts';
export { verifySiwe, type SiweRefusal, type SiweRequest, type SiweResult } from './siwe.ts';
export { L2_USDC, STABLECOINS, type Stablecoin } from './tokens.ts';
export type { Address, Hex } from 'viem';
export { parseUsdc, USDC_DECIMALS } from './amounts.ts';
export { createBalances, type StablecoinBalances, type TokenBalance } from './balances.ts';
export { canonicalJson } from './canonical-json.ts';
export { accountOf, createKeyring, type Keyring, type SealedKey } from './keys.ts';
export {
  busDigest,
  busMessageSigned,
  isNonce,
  requestMessage,
  requestSigned,
  signBusMessage,
  signVoucher,
  voucherSigned,
  voucherTypedData,
  walletProofMessage,
  walletProven,
  type Voucher,
} from './proofs.ts';
export {
  broadcast,
  coversFees,
  createSender,
  outcome,
  transferCall,
  waitFor,
  type Call,
  type Sender,
  type SignedTransaction,
  type TransactionOutcome,
} from './transfers.ts';
export { authorizationUsed, authorizedTransferCall, wouldSucceed, type Authorization } from './authorizations.ts';
export { createCharges, type Charge, type ChargeResult, type PaymentTerms } from './charges.ts';
export { signedOutcome, type SignedPayment } from './signed-payments.ts';
export { type Till } from './tills.ts';
export { createIndexer, type Indexer } from './indexer.ts';
export { type ChainTransfer } from './indexer-store.ts';
export { createTokenFacts, type TokenFacts } from './token-facts.ts';
export { createWallets, type Wallet, type WalletKind, type WalletOwner, type Wallets } from './wallets.ts';
