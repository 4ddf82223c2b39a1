import type { Address } from 'viem';
import { viem } from './viem.ts';

/** 0x and 40 hex digits in any case. */
export const isHexAddress = (value: unknown): value is Address =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value);

/** The same, for where money goes to: mixed case must be the right checksum (EIP-55), nothing else catches a typo. */
export function isPayableAddress(value: unknown): value is Address {
  if (!isHexAddress(value)) return false;
  const digits = value.slice(2);
  return digits === digits.toLowerCase() || digits === digits.toUpperCase() || viem().getAddress(value) === value;
}

const SOLANA = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** Somebody who can be paid: an EVM address that is no typo, or one of Solana's form. */
export const isPayee = (value: string): boolean => isPayableAddress(value) || SOLANA.test(value);

/** Lower case: viem refuses a wrong checksum where only the digits count. */
export const digitsOf = (address: Address): Address => address.toLowerCase() as Address;
