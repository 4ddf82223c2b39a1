import type { Address, Hex, TypedDataDefinition } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { canonicalJson } from './canonical-json.ts';
import { isHexAddress } from './address.ts';
import type { Verifier } from './signatures.ts';
import { viem } from './viem.ts';

/** What wallets sign for us, and how it is checked. */

export interface Voucher {
  sessionId: string;
  plugin: string;
  /** Millionths of a dollar. */
  amount: bigint;
  nonce: Hex;
}

const VOUCHER = {
  Voucher: [
    { name: 'sessionId', type: 'string' },
    { name: 'plugin', type: 'string' },
    { name: 'amount', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

const BYTES32 = /^0x[0-9a-fA-F]{64}$/;

export const isNonce = (value: unknown): value is Hex => typeof value === 'string' && BYTES32.test(value);

export const voucherTypedData = (voucher: Voucher, chainId: number) =>
  ({
    domain: { name: 'Payment Session', version: '1', chainId },
    types: VOUCHER,
    primaryType: 'Voucher',
    message: { ...voucher },
  }) as const;

export async function voucherSigned(
  verifier: Verifier,
  { voucher, chainId, by, signature }: { voucher: Voucher; chainId: number; by: Address; signature: string },
): Promise<boolean> {
  const data: TypedDataDefinition = voucherTypedData(voucher, chainId);
  return (await verifier.typedData(by, data, signature)) !== null;
}

export const signVoucher = (account: PrivateKeyAccount, voucher: Voucher, chainId: number): Promise<Hex> =>
  account.signTypedData(voucherTypedData(voucher, chainId));

const REQUEST_WINDOW_MS = 5 * 60_000;

export const requestMessage = (method: string, path: string, timestamp: string): string =>
  `${method.toUpperCase()} ${path} ${timestamp}`;

/** The headers x-wallet-signature and x-wallet-timestamp: did `address` sign this request, less than 5 minutes ago? */
export async function requestSigned(
  verifier: Verifier,
  given: { method: string; path: string; timestamp: unknown; signature: unknown; address: Address; now: Date },
): Promise<boolean> {
  const { method, path, timestamp, signature, address, now } = given;
  if (typeof timestamp !== 'string' || typeof signature !== 'string' || !/^\d{13}$/.test(timestamp)) return false;
  if (Math.abs(now.getTime() - Number(timestamp)) > REQUEST_WINDOW_MS) return false;
  return (await verifier.message(address, requestMessage(method, path, timestamp), signature)) !== null;
}

/** Registers an agent's own wallet. */
export const walletProofMessage = (address: string, agentId: string): string =>
  `Register ${address} for agent ${agentId}`;

export async function walletProven(
  verifier: Verifier,
  { address, agentId, proof }: { address: string; agentId: string; proof: unknown },
): Promise<boolean> {
  if (!isHexAddress(address) || typeof proof !== 'string') return false;
  return (await verifier.message(address, walletProofMessage(address, agentId), proof)) !== null;
}

type Message = Readonly<Record<string, unknown>>;

/**
 * What is signed of a bus message: everything but the signature itself and what carriers may add. A TypeError when it
 * has no canonical JSON.
 */
export const busDigest = (message: Message): Hex =>
  viem().keccak256(viem().stringToHex(canonicalJson({ ...message, signature: undefined, metadata: undefined })));

export const signBusMessage = (account: PrivateKeyAccount, message: Message): Promise<Hex> =>
  account.signMessage({ message: { raw: busDigest(message) } });

export async function busMessageSigned(
  verifier: Verifier,
  { message, by }: { message: Message; by: Address },
): Promise<boolean> {
  const { signature } = message;
  const raw = digestOrNull(message);
  if (typeof signature !== 'string' || raw === null) return false;
  return (await verifier.message(by, { raw }, signature)) !== null;
}

function digestOrNull(message: Message): Hex | null {
  try {
    return busDigest(message);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
