import type { Address, Hex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { digitsOf } from './address.ts';
import { ChainUnavailable, isUnanswered, type ChainClient } from './client.ts';
import { viem } from './viem.ts';

/** A signed transaction: sending it twice moves money once, so it is stored before it is sent. */
export interface SignedTransaction {
  hash: Hex;
  raw: Hex;
  nonce: number;
  from: Address;
}

/** `dropped`: another transaction took the nonce, this one can never happen. `unknown`: not seen yet, send it again. */
export type TransactionOutcome = 'success' | 'reverted' | 'dropped' | 'unknown';

export interface Call {
  to: Address;
  data: Hex;
}

export const transferCall = (token: Address, to: Address, units: bigint): Call => ({
  to: token,
  data: viem().encodeFunctionData({ abi: viem().erc20Abi, functionName: 'transfer', args: [digitsOf(to), units] }),
});

export interface Sender {
  /**
   * Signs the call, hands the signed transaction to `record` (which stores it), then sends it. Fails before `record`
   * when the call would revert; after `record` ask `outcome`, the transaction may be under way whatever happened here.
   */
  send: (call: Call, record?: (transaction: SignedTransaction) => Promise<void>) => Promise<SignedTransaction>;
}

/** Sends from one key. Calls queue up, because each takes the nonce after the one before it. */
export function createSender({ chain, account }: { chain: ChainClient; account: PrivateKeyAccount }): Sender {
  let last: Promise<unknown> = Promise.resolve();

  async function send(call: Call, record?: Parameters<Sender['send']>[1]): Promise<SignedTransaction> {
    const request = await chain.read(async (client) => {
      const [gas, fees, nonce] = await Promise.all([
        client.estimateGas({ account, ...call }),
        client.estimateFeesPerGas({ type: 'eip1559' }),
        client.getTransactionCount({ address: account.address, blockTag: 'pending' }),
      ]);
      return { ...call, ...fees, gas: (gas * 6n) / 5n, nonce, chainId: chain.network.id, type: 'eip1559' } as const;
    });
    const raw = await account.signTransaction(request);
    const transaction = { hash: viem().keccak256(raw), raw, nonce: request.nonce, from: account.address };
    await record?.(transaction);
    await broadcast(chain, raw);
    return transaction;
  }

  return {
    send(call, record) {
      const result = last.then(() => send(call, record));
      last = result.catch(() => {});
      return result;
    },
  };
}

/** More than a transfer of any of the tokens takes. */
const TRANSFER_GAS = 100_000n;

/** Whether the address has the native money that so many transfers cost now. */
export const coversFees = (chain: ChainClient, address: Address, transfers: number): Promise<boolean> =>
  chain.read(async (client) => {
    const [balance, { maxFeePerGas }] = await Promise.all([
      client.getBalance({ address }),
      client.estimateFeesPerGas({ type: 'eip1559' }),
    ]);
    return balance >= BigInt(transfers) * TRANSFER_GAS * maxFeePerGas;
  });

/** Sends a signed transaction, as often as one likes. */
export async function broadcast(chain: ChainClient, raw: Hex): Promise<void> {
  try {
    await chain.viem.sendRawTransaction({ serializedTransaction: raw });
  } catch (error) {
    if (isUnanswered(error)) throw new ChainUnavailable('the RPC does not answer', { cause: error });
    // A node that has it already refuses it, each in its own words: then it is there.
    const known = await chain.viem.getTransaction({ hash: viem().keccak256(raw) }).catch(() => null);
    if (known === null) throw error;
  }
}

export function outcome(
  chain: ChainClient,
  { hash, nonce, from }: Pick<SignedTransaction, 'hash' | 'nonce' | 'from'>,
): Promise<TransactionOutcome> {
  return chain.read(async (client) => {
    // The count first: were it read after the receipt, a transaction mined in between would look dropped.
    const count = await client.getTransactionCount({ address: from, blockTag: 'latest' });
    const receipt = await client.getTransactionReceipt({ hash }).catch((error: unknown) => {
      if (error instanceof viem().TransactionReceiptNotFoundError) return null;
      throw error;
    });
    if (receipt !== null) return receipt.status;
    return count > nonce ? 'dropped' : 'unknown';
  });
}

/** Waits until the transaction is mined; `unknown` when that takes longer than `timeoutMs`. */
export async function waitFor(
  chain: ChainClient,
  transaction: Pick<SignedTransaction, 'hash' | 'nonce' | 'from'>,
  timeoutMs: number,
): Promise<TransactionOutcome> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    const found = await outcome(chain, transaction);
    if (found !== 'unknown' || performance.now() > until) return found;
    await new Promise((resolve) => setTimeout(resolve, chain.viem.pollingInterval));
  }
}
