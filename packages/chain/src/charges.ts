import type { Address, Hex } from 'viem';
import type { ChainClient } from './client.ts';
import { isUnanswered } from './client.ts';
import type { Call } from './transfers.ts';
import { viem } from './viem.ts';

/** A payer's signed permission to move money (EIP-3009): what both 402 protocols carry. */
export interface Authorization {
  from: Address;
  to: Address;
  value: bigint;
  validAfter: bigint;
  validBefore: bigint;
  nonce: Hex;
  signature: Hex;
  protocol: 'mpp' | 'x402';
  /** The challenge that it answers; x402 names none. */
  challengeId: string | null;
}

export interface PaymentTerms {
  chain: ChainClient;
  token: Address;
  payee: Address;
  /** Binds challenges to this service; at least 32 bytes. */
  secret: string;
}

export type ChargeResult =
  | { paid: false; headers: Record<string, string>; challengeId: string | null; problem: string | null }
  | { paid: true; headers: Record<string, string>; reference: string };

export interface Charge {
  request: Request;
  /** Decimal text, in the token's own unit. */
  price: string;
  description: string;
  /** A time in ISO form after which the challenge is void. */
  expires: string;
  /**
   * Called with a verified authorization; answers the transaction that moved the money, or why it did not. What it
   * throws comes out of the charge.
   */
  settle: (authorization: Authorization) => Promise<{ reference: string } | { refused: string }>;
}

const metadata = () =>
  viem().parseAbi([
    'function name() view returns (string)',
    'function version() view returns (string)',
    'function decimals() view returns (uint8)',
  ]);

/** Loaded at the first charge: it takes 30 MB, and most platforms never charge by chain. */
async function loadProtocols() {
  const [{ Errors }, { evm, Mppx }] = await Promise.all([import('mppx'), import('mppx/server')]);
  return { Errors, evm, Mppx };
}

/** HTTP 402 in both current protocols, MPP and x402 v2, paid with one signed transfer of one token. */
export function createCharges({ chain, token, payee, secret }: PaymentTerms) {
  let terms: Promise<{ name: string; version: string; decimals: number }> | undefined;

  /** The token's signing domain does not change; a failed read is tried again. */
  async function tokenTerms() {
    terms ??= chain.read(async (client) => {
      const contract = { abi: metadata(), address: token } as const;
      const [name, version, decimals] = await Promise.all([
        client.readContract({ ...contract, functionName: 'name' }),
        client.readContract({ ...contract, functionName: 'version' }).catch(() => '1'),
        client.readContract({ ...contract, functionName: 'decimals' }),
      ]);
      return { name, version, decimals };
    });
    try {
      return await terms;
    } catch (error) {
      terms = undefined;
      throw error;
    }
  }

  return async ({ request, price, description, expires, settle }: Charge): Promise<ChargeResult> => {
    const { name, version, decimals } = await tokenTerms();
    const { Errors, evm, Mppx } = await loadProtocols();
    let settled = { refused: '' } as Settled;
    const payments = Mppx.create({
      methods: [
        evm.charge({
          authorization: { name, version },
          chainId: chain.network.id,
          currency: token,
          decimals,
          recipient: payee,
          settle: async ({ credential, payload }) => {
            const mpp = /^payment /i.test(request.headers.get('authorization') ?? '');
            const challengeId = mpp ? credential.challenge.id : null;
            settled = await settle(authorizationOf(payload, challengeId)).catch((error: unknown) => ({ error }));
            if ('reference' in settled) return settled;
            throw new Errors.VerificationFailedError({ reason: 'refused' in settled ? settled.refused : 'failed' });
          },
        }),
      ],
      secretKey: secret,
      realm: new URL(request.url).host,
    });
    let challengeId: string | null = null;
    let problem: string | null = null;
    payments.onChallengeCreated(({ challenge }) => void (challengeId = challenge.id));
    payments.onPaymentFailed(({ error }) => void (problem = error.message));
    const answer = await payments.charge({ amount: price, description, expires })(request);
    if ('error' in settled) throw settled.error;
    if (answer.status === 402) return { paid: false, headers: headersOf(answer.challenge), challengeId, problem };
    return {
      paid: true,
      headers: headersOf(answer.withReceipt(new Response())),
      reference: 'reference' in settled ? settled.reference : '',
    };
  };
}

type Settled = Awaited<ReturnType<Charge['settle']>> | { error: unknown };

type Payload = Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce' | 'signature', string>;

const authorizationOf = (payload: Payload, challengeId: string | null): Authorization => ({
  from: payload.from as Address,
  to: payload.to as Address,
  value: BigInt(payload.value),
  validAfter: BigInt(payload.validAfter),
  validBefore: BigInt(payload.validBefore),
  nonce: payload.nonce as Hex,
  signature: payload.signature as Hex,
  protocol: challengeId === null ? 'x402' : 'mpp',
  challengeId,
});

const headersOf = (response: Response): Record<string, string> =>
  Object.fromEntries([...response.headers].filter(([name]) => name !== 'content-type'));

const authorized = () =>
  viem().parseAbi([
    'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
    'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  ]);

/** The call that uses an authorization; whoever sends it, the money goes from payer to payee. */
export function authorizedTransferCall(token: Address, authorization: Authorization): Call {
  const { from, to, value, validAfter, validBefore, nonce, signature } = authorization;
  const { r, s, v, yParity } = viem().parseSignature(signature);
  return {
    to: token,
    data: viem().encodeFunctionData({
      abi: authorized(),
      functionName: 'transferWithAuthorization',
      args: [from, to, value, validAfter, validBefore, nonce, Number(v ?? BigInt(yParity) + 27n), r, s],
    }),
  };
}

/** Would this call go through now? Throws ChainUnavailable when the chain does not say. */
export function wouldSucceed(chain: ChainClient, from: Address, call: Call): Promise<boolean> {
  return chain.read(async (client) => {
    try {
      await client.call({ account: from, ...call });
      return true;
    } catch (error) {
      if (isUnanswered(error)) throw error;
      return false;
    }
  });
}

export const authorizationUsed = (chain: ChainClient, token: Address, by: Address, nonce: Hex): Promise<boolean> =>
  chain.read((client) =>
    client.readContract({ abi: authorized(), address: token, functionName: 'authorizationState', args: [by, nonce] }),
  );
