import type { Address, Hex } from 'viem';
import { isUnanswered, type ChainClient } from './client.ts';
import type { Call } from './transfers.ts';
import { viem } from './viem.ts';

/** A payer's signed permission to move money (EIP-3009), carried by either 402 protocol. */
export interface Authorization {
  kind: 'authorization';
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

type Payload = Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce' | 'signature', string>;

export const authorizationOf = (payload: Payload, challengeId: string | null): Authorization => ({
  kind: 'authorization',
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

/** Whether the token takes authorizations at all: one that does not refuses the question. */
export const takesAuthorizations = (chain: ChainClient, token: Address): Promise<boolean> => {
  const nobody = `0x${'00'.repeat(20)}` as const;
  return authorizationUsed(chain, token, nobody, `0x${'00'.repeat(32)}`).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Error && error.name === 'ChainUnavailable') throw error;
      return false;
    },
  );
};
