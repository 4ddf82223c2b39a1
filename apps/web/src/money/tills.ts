import {
  createSender,
  isPayableAddress,
  L2_USDC,
  type Address,
  type ChainClient,
  type Sender,
  type Till,
} from '@troupe/chain';
import { StartError, type Settings } from '@troupe/kernel';
import type { SettlementKey } from './settlement-key.ts';

/** A till, and who sends what settles there. */
export interface SettledTill extends Till {
  sender: Sender;
  /** Of the sender, which pays the fees. */
  address: Address;
}

/** Where HTTP 402 can be paid: in the token of the stablecoin chain, and in USDC on the L2 network when it is asked for. */
export function createTills(settings: Settings, key: SettlementKey | null, l2: ChainClient | undefined): SettledTill[] {
  const tills: SettledTill[] = key === null ? [] : [key];
  const payee = settings.L2_PAYEE_ADDRESS;
  if (payee === undefined) return tills;
  // Nothing else catches a typo in where all the money goes.
  if (!isPayableAddress(payee)) throw new StartError(`L2_PAYEE_ADDRESS is ${payee}, which is not its right checksum`);
  if (key === null || l2 === undefined)
    throw new StartError(
      'L2_PAYEE_ADDRESS needs L2_RPC_URL, and what pays on the stablecoin chain: CHAIN_RPC_URL, PAYEE_ADDRESS, SETTLEMENT_KEY',
    );
  const { account } = key;
  const sender = createSender({ chain: l2, account });
  return [...tills, { chain: l2, token: lower(L2_USDC), payee: lower(payee), sender, address: account.address }];
}

const lower = (address: string): Address => address.toLowerCase() as Address;
