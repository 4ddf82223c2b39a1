import { ChainUnavailable, requestSigned, type Address, type Verifier, type Wallets } from '@troupe/chain';
import { AppError, type Clock, type RequestInfo, type User } from '@troupe/kernel';

export interface WalletCaller {
  user: User | null;
  method: 'GET' | 'POST' | 'DELETE';
  request: Pick<RequestInfo, 'path' | 'headers'>;
}

/** Does the caller own the address: as the signed-in owner of that wallet, or by a signature with its key? */
export type OwnsAddress = (caller: WalletCaller, address: string) => Promise<boolean>;

export function createOwnsAddress({
  wallets,
  verifier,
  clock,
}: {
  wallets: Wallets;
  verifier: Verifier;
  clock: Clock;
}): OwnsAddress {
  return async ({ user, method, request: { path, headers } }, address) => {
    if (user !== null && (await wallets.owns(user.id, address))) return true;
    try {
      return await requestSigned(verifier, {
        method,
        path,
        timestamp: headers['x-wallet-timestamp'],
        signature: headers['x-wallet-signature'],
        address: address as Address,
        now: clock(),
      });
    } catch (error) {
      if (error instanceof ChainUnavailable) throw new AppError(503, 'Verification unavailable', {}, { cause: error });
      throw error;
    }
  };
}
