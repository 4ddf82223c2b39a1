import { accountOf, createSender, type Address, type ChainClient, type Sender } from '@troupe/chain';
import { StartError, type Settings } from '@troupe/kernel';

/** The key that settles on-chain, in what, and who is paid. One sender for all: its transactions take turns. */
export interface SettlementKey {
  chain: ChainClient;
  payee: Address;
  token: Address;
  address: Address;
  sender: Sender;
}

/** Null: no chain, nobody to pay, or no key to settle with. */
export function createSettlementKey(settings: Settings, chain: ChainClient | undefined): SettlementKey | null {
  const { PAYEE_ADDRESS: payee, SETTLEMENT_KEY: key, PAYMENT_TOKEN: token } = settings;
  if (chain === undefined || payee === undefined || key === undefined || token === undefined) return null;
  const account = accountOf(key);
  if (account === null) throw new StartError('SETTLEMENT_KEY is [redacted], expected 0x and 64 hex digits');
  const { address } = account;
  return { chain, payee: lower(payee), token: lower(token), address, sender: createSender({ chain, account }) };
}

const lower = (address: string): Address => address.toLowerCase() as Address;
