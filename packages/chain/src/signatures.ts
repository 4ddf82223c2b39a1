import type { Address, Hex, TypedDataDefinition } from 'viem';
import type { ChainClient } from './client.ts';
import { isUnanswered } from './client.ts';
import type { Recover } from './recover.ts';
import { viem } from './viem.ts';

export type Signer = 'eoa' | 'contract' | null;

/** Longer signatures are not worth an RPC call: ERC-6492 ones carry a factory call, passkeys some hundred bytes. */
const MAX_SIGNATURE = 2 + 2 * 8_192;
const HEX = /^0x(?:[0-9a-fA-F]{2})+$/;

const isSignature = (value: string): value is Hex => value.length <= MAX_SIGNATURE && HEX.test(value);

export interface Verifier {
  /** Who made this signature for `address`: its own key, its contract (ERC-1271, ERC-6492), or neither. */
  hash: (address: Address, hash: Hex, signature: string) => Promise<Signer>;
  /** EIP-191 */
  message: (address: Address, message: string | { raw: Hex }, signature: string) => Promise<Signer>;
  /** EIP-712 */
  typedData: (address: Address, data: TypedDataDefinition, signature: string) => Promise<Signer>;
}

/** Without a chain only the signatures of keys can be verified; contracts' count as invalid then. */
export function createVerifier({ recover, chain }: { recover: Recover; chain?: ChainClient }): Verifier {
  async function hash(address: Address, digest: Hex, signature: string): Promise<Signer> {
    if (!isSignature(signature)) return null;
    const recovered = await recover(digest, signature);
    if (recovered !== null && viem().isAddressEqual(recovered, address)) return 'eoa';
    if (chain === undefined) return null;
    return (await signedByContract(chain, address, digest, signature)) ? 'contract' : null;
  }
  return {
    hash,
    message: (address, message, signature) => hash(address, viem().hashMessage(message), signature),
    typedData: (address, data, signature) => hash(address, viem().hashTypedData(data), signature),
  };
}

/** One call that deploys the wallet for its own length if need be, and asks it. Throws when the chain does not answer. */
function signedByContract(chain: ChainClient, address: Address, hash: Hex, signature: Hex): Promise<boolean> {
  const data = viem().encodeDeployData({
    abi: viem().erc6492SignatureValidatorAbi,
    args: [viem().getAddress(address), hash, signature],
    bytecode: viem().erc6492SignatureValidatorByteCode,
  });
  return chain.read(async (client) => {
    try {
      const answer = await client.call({ data });
      return answer.data !== undefined && BigInt(answer.data) === 1n;
    } catch (error) {
      // The validator reverts on what it cannot make sense of; viem's own check also takes silence for that.
      if (error instanceof viem().BaseError && !isUnanswered(error)) return false;
      throw error;
    }
  });
}
