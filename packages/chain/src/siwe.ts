import type { Address } from 'viem';
import { isHexAddress } from './address.ts';
import { ChainUnavailable } from './client.ts';
import type { Verifier } from './signatures.ts';
import { viem, viemSiwe } from './viem.ts';

export type SiweResult =
  | { ok: true; address: Address; nonce: string }
  | { ok: false; status: 401 | 503; reason: SiweRefusal };

export type SiweRefusal =
  | 'Invalid signature'
  | 'Only smart-contract wallets are supported'
  | 'Verification unavailable';

export interface SiweRequest {
  address: string;
  message: string;
  signature: string;
  /** Host (and port) that the message must be for. */
  domain: string;
  /** The chain that the message must be for: the one that `verifier` asks. */
  chainId: number;
  now: Date;
  /**
   * True while the nonce is known and unused. It is asked before the chain is, and must not use the nonce up: the
   * caller does that after `ok`, in one statement whose failure is a refusal too.
   */
  nonceValid: (nonce: string) => Promise<boolean>;
  /** Undefined when no L2 network is configured. */
  verifier: Verifier | undefined;
}

const refuse = (status: 401 | 503, reason: SiweRefusal): SiweResult => ({ ok: false, status, reason });

/** Wallet sign-in: is this a message for us, now, signed by the smart-contract wallet at `address`? */
export async function verifySiwe(request: SiweRequest): Promise<SiweResult> {
  const invalid = refuse(401, 'Invalid signature');
  const { address, verifier, now } = request;
  const message = viemSiwe().parseSiweMessage(request.message);
  const { nonce, issuedAt } = message;
  if (!isHexAddress(address) || message.address === undefined || !viem().isAddressEqual(message.address, address))
    return invalid;
  if (message.version !== '1' || message.chainId !== request.chainId || nonce === undefined) return invalid;
  if (!viemSiwe().validateSiweMessage({ message, address, domain: request.domain, time: now })) return invalid;
  // A minute of grace: the wallet's clock is not ours.
  if (issuedAt === undefined || !(issuedAt.getTime() <= now.getTime() + 60_000)) return invalid;
  if (!(await request.nonceValid(nonce))) return invalid;
  if (verifier === undefined) return refuse(503, 'Verification unavailable');
  try {
    const signer = await verifier.message(address, request.message, request.signature);
    if (signer === 'eoa') return refuse(401, 'Only smart-contract wallets are supported');
    return signer === 'contract' ? { ok: true, address, nonce } : invalid;
  } catch (error) {
    if (error instanceof ChainUnavailable) return refuse(503, 'Verification unavailable');
    throw error;
  }
}
