import { createCipher } from '@troupe/kernel';
import type { Address, Hex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { viemAccounts } from './viem.ts';

export interface SealedKey {
  address: Address;
  /** The private key under AES-256-GCM, bound to owner and address. */
  sealed: Buffer;
}

/** Makes, keeps and opens the private keys of wallets. The secret may be a list, as `createCipher` takes it. An `owner` is `user:<id>` or `agent:<id>`. */
export interface Keyring {
  create: (owner: string, privateKey?: Hex) => SealedKey;
  open: (owner: string, key: { address: string; sealed: Uint8Array }) => PrivateKeyAccount;
  /** The same key, sealed with the newest secret. */
  reseal: (owner: string, key: { address: string; sealed: Uint8Array }) => Buffer;
}

const KEY = /^0x[0-9a-fA-F]{64}$/;

export function createKeyring(secret: string): Keyring {
  const cipher = createCipher(secret, 'wallet-keys');
  // The address is part of the context, so that no key can be put in another wallet's row of the same owner.
  const contextOf = (owner: string, address: string): string => `${owner}|${address.toLowerCase()}`;
  const keyOf: (...args: Parameters<Keyring['open']>) => Hex = (owner, { address, sealed }) =>
    cipher.open(sealed, contextOf(owner, address)) as Hex;
  function create(owner: string, privateKey: Hex = viemAccounts().generatePrivateKey()): SealedKey {
    const { address } = viemAccounts().privateKeyToAccount(privateKey);
    return { address, sealed: cipher.seal(privateKey, contextOf(owner, address)) };
  }
  return {
    create,
    open: (owner, key) => viemAccounts().privateKeyToAccount(keyOf(owner, key)),
    reseal: (owner, key) => create(owner, keyOf(owner, key)).sealed,
  };
}

/** An account from a key that an operator or user typed; null when it is none. */
export function accountOf(privateKey: string): PrivateKeyAccount | null {
  try {
    return KEY.test(privateKey) ? viemAccounts().privateKeyToAccount(privateKey as Hex) : null;
  } catch {
    // Zero, or not below the order of the curve.
    return null;
  }
}
