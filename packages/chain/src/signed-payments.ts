import type { Address, Hex } from 'viem';
import { ChainUnavailable, isUnanswered, type ChainClient } from './client.ts';
import type { TransactionOutcome } from './transfers.ts';
import { viem } from './viem.ts';

/**
 * A payment by a whole transaction of the payer's, as TIP-20 wants it: the network's own kind, bound to the challenge by
 * its memo. The payer sends it and names its hash, or signs it and leaves the sending to us.
 */
export interface SignedPayment {
  kind: 'transaction';
  from: Address;
  value: bigint;
  hash: Hex;
  /** Null: the payer has sent it. */
  raw: Hex | null;
  /** In seconds; after it the transaction can never happen. Null when it happened already. */
  validBefore: number | null;
  protocol: 'mpp';
  challengeId: string;
}

interface Loaded {
  Errors: typeof import('mppx').Errors;
  tempo: typeof import('mppx/server').tempo;
  Tempo: typeof import('viem/tempo');
  chains: typeof import('viem/tempo/chains');
}

/** A transaction of the payer's must be over soon: until then nobody knows whether it happens. */
const LONGEST_LIFE_SECONDS = 600;

interface Options {
  chain: ChainClient;
  token: Address;
  payee: Address;
  decimals: number;
  /** What it throws comes out of the charge; a reason is answered with another challenge. */
  settle: (payment: SignedPayment) => Promise<{ reference: string } | { refused: string }>;
  /** Told when the chain did not say whether a payment is good. */
  unavailable: (error: ChainUnavailable) => void;
}

/** mppx's own method `tempo.charge`: its offer and its checks; when the money moves is ours to say. */
export function signedPaymentMethod({ Errors, tempo, Tempo, chains }: Loaded, options: Options) {
  const { chain, token, payee, decimals, settle, unavailable } = options;
  const { id } = chain.network;
  const kind = chain.network.testnet ? chains.tempoModerato : chains.tempo;
  const client = viem().createPublicClient({
    chain: { ...kind, id, rpcUrls: chain.viem.chain.rpcUrls } as typeof kind,
    transport: viem().custom({ request: chain.viem.request }, { retryCount: 0 }),
  });
  const method = tempo.charge({
    chainId: id,
    currency: token,
    decimals,
    recipient: payee,
    getClient: () => client as never,
  } as Parameters<typeof tempo.charge>[0]);

  async function paymentOf({ challenge, payload, source }: Credential): Promise<SignedPayment> {
    const value = BigInt(challenge.request.amount);
    const common = { kind: 'transaction', value, protocol: 'mpp', challengeId: challenge.id } as const;
    if (payload.type === 'proof') throw new Errors.VerificationFailedError({ reason: 'a proof moves no money' });
    if (payload.type === 'hash') {
      const from = addressIn(source) ?? (await client.getTransactionReceipt({ hash: payload.hash })).from;
      return { ...common, from, hash: payload.hash, raw: null, validBefore: null };
    }
    const transaction = Tempo.Transaction.deserialize(payload.signature as `0x76${string}`);
    // Nodes name a transaction by its canonical form, whatever the signature looked like.
    const raw = (await Tempo.Transaction.serialize(transaction as never)) as Hex;
    const { from, validBefore } = transaction as { from: Address; validBefore?: number };
    return { ...common, from, hash: viem().keccak256(raw), raw, validBefore: validBefore ?? null };
  }

  return {
    ...method,
    async validate(...given: Parameters<NonNullable<typeof method.validate>>) {
      try {
        return await method.validate!(...given);
      } catch (error) {
        if (error instanceof Errors.PaymentError) throw error;
        if (isUnanswered(error)) unavailable(new ChainUnavailable('the RPC does not answer', { cause: error }));
        // What is left is the chain's word on it: it would revert, or nobody knows the hash.
        throw new Errors.VerificationFailedError({ reason: 'The transfer would fail' });
      }
    },
    async broadcast({ credential }: { credential: unknown }) {
      const payment = await paymentOf(credential as Credential);
      const problem = lifeProblem(payment);
      if (problem !== null) throw new Errors.VerificationFailedError({ reason: problem });
      const settled = await settle(payment);
      if ('refused' in settled) throw new Errors.VerificationFailedError({ reason: settled.refused });
      const timestamp = new Date().toISOString();
      return { method: 'tempo' as const, status: 'success' as const, timestamp, reference: settled.reference };
    },
  };
}

interface Credential {
  challenge: { id: string; request: { amount: string } };
  payload: { type: 'hash'; hash: Hex } | { type: 'transaction'; signature: Hex } | { type: 'proof' };
  source?: string;
}

function lifeProblem({ raw, validBefore }: SignedPayment): string | null {
  if (raw === null) return null;
  const now = Date.now() / 1000;
  if (validBefore === null) return 'the transaction must say until when it is valid';
  return validBefore > now + LONGEST_LIFE_SECONDS ? 'the transaction is valid for too long' : null;
}

/** Of did:pkh:eip155:<chain>:<address>. */
const addressIn = (source: string | undefined): Address | null =>
  (/^did:pkh:eip155:\d+:(0x[0-9a-fA-F]{40})$/.exec(source ?? '')?.[1] as Address | undefined) ?? null;

/** Of a transaction that ends by time instead of by a nonce. */
export function signedOutcome(
  chain: ChainClient,
  { hash, validBefore }: { hash: Hex; validBefore: number | null },
): Promise<TransactionOutcome> {
  return chain.read(async (client) => {
    // The clock of the chain first: were it read after the receipt, one mined in between would look dropped.
    const { timestamp } = await client.getBlock();
    const receipt = await client.getTransactionReceipt({ hash }).catch((error: unknown) => {
      if (error instanceof viem().TransactionReceiptNotFoundError) return null;
      throw error;
    });
    if (receipt !== null) return receipt.status;
    return validBefore !== null && timestamp >= BigInt(validBefore) ? 'dropped' : 'unknown';
  });
}
