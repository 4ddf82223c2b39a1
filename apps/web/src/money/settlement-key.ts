import {
  accountOf,
  createSender,
  createTokenFacts,
  isPayableAddress,
  transferCall,
  type Address,
  type ChainClient,
  type Sender,
  type SignedTransaction,
} from '@troupe/chain';
import { StartError, type Settings } from '@troupe/kernel';
import { USD_DECIMALS } from '@troupe/ledger';

/** The key that settles on-chain, in what, and who is paid. One sender for all: its transactions take turns. */
export interface SettlementKey {
  chain: ChainClient;
  payee: Address;
  token: Address;
  address: Address;
  account: NonNullable<ReturnType<typeof accountOf>>;
  sender: Sender;
  /** Sends so many millionths of a dollar of the token; `record` stores the transaction before it goes out. */
  pay: (
    to: Address,
    units: bigint,
    record: (transaction: SignedTransaction) => Promise<void>,
  ) => Promise<SignedTransaction>;
}

/** Null: no chain, nobody to pay, or no key to settle with. */
export function createSettlementKey(settings: Settings, chain: ChainClient | undefined): SettlementKey | null {
  const { PAYEE_ADDRESS: payee, SETTLEMENT_KEY: key, PAYMENT_TOKEN: token } = settings;
  if (chain === undefined || payee === undefined || key === undefined || token === undefined) return null;
  const account = accountOf(key);
  if (account === null) throw new StartError('SETTLEMENT_KEY is [redacted], expected 0x and 64 hex digits');
  // Nothing else catches a typo in where all the money goes.
  if (!isPayableAddress(payee)) throw new StartError(`PAYEE_ADDRESS is ${payee}, which is not its right checksum`);
  const sender = createSender({ chain, account });
  const factsOf = createTokenFacts(chain);
  return {
    chain,
    payee: lower(payee),
    token: lower(token),
    address: account.address,
    account,
    sender,
    async pay(to, units, record) {
      const { decimals } = await factsOf({ address: lower(token), symbol: token });
      const exact = (units * 10n ** BigInt(decimals)) / 10n ** BigInt(USD_DECIMALS);
      return sender.send(transferCall(lower(token), to, exact), record);
    },
  };
}

const lower = (address: string): Address => address.toLowerCase() as Address;
