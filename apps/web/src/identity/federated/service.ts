import { isHexAddress } from '@troupe/chain';
import type { Database, SystemTx } from '@troupe/db';
import { AppError, iso, randomHex, sha256Hex, type Clock } from '@troupe/kernel';
import type { Gating, GateAnswer } from './gating.ts';
import type { FederatedIdentity } from './identity-token.ts';
import { signSession } from './session-token.ts';
import { addRefresh, useRefresh, type RefreshRow } from './store.ts';

interface Tokens {
  sessionToken: string;
  refreshToken: string;
}

type Check = Omit<GateAnswer, 'contractAddress'> & {
  fid: string | number;
  address: string;
  message: string;
  timestamp: string;
};

interface FederatedDeps {
  db: Database;
  /** Undefined: no issuer is configured. */
  readToken: ((token: string) => Promise<FederatedIdentity>) | undefined;
  gating: Gating;
  secret: string;
  clock: Clock;
}

const SESSION_S = 86_400;
const REFRESH_MS = 30 * 86_400_000;

export type Federated = ReturnType<typeof createFederated>;

export function createFederated({ db, readToken, gating, secret, clock }: FederatedDeps) {
  async function issue(tx: SystemTx, row: RefreshRow): Promise<Tokens> {
    const now = clock();
    const refreshToken = randomHex(32);
    await addRefresh(tx, sha256Hex(refreshToken), row, now);
    const iat = Math.floor(now.getTime() / 1000);
    const { subject, fid, address, verified } = row;
    const claims = { sub: subject, fid, address, verified, iat, exp: iat + SESSION_S };
    return { sessionToken: signSession(secret, claims), refreshToken };
  }

  /** False: nobody asked, or there is no gate. */
  async function passes(address: string | null): Promise<boolean> {
    if (address === null) return false;
    const { tokenGated, hasAccess, contractAddress, minBalance } = await gating(address);
    if (!hasAccess) throw new AppError(403, 'Token gating failed', { required: contractAddress, minBalance });
    return tokenGated;
  }

  return {
    async verify(
      fidToken: unknown,
      address: string | null,
    ): Promise<Tokens & { success: true; address: string | null; tokenGated: boolean; accessLevel: 'basic' | 'full' }> {
      if (typeof fidToken !== 'string' || fidToken.trim() === '') throw new AppError(401, 'Missing identity token');
      if (!readToken) throw new AppError(503, 'Federated identity is not configured');
      const identity = await readToken(fidToken.trim());
      if (address !== null && !isHexAddress(address)) throw new AppError(400, 'Invalid Ethereum address');
      const tokenGated = await passes(address);
      // Anybody can name an address that holds the token: it counts in full only where the issuer says whose it is.
      const verified = address !== null && identity.addresses.includes(address.toLowerCase());
      const expires = new Date(clock().getTime() + REFRESH_MS);
      const { subject, fid } = identity;
      const tokens = await db.asSystem((tx) => issue(tx, { subject, fid, address, verified, expires_at: expires }));
      return { success: true, ...tokens, address, tokenGated, accessLevel: tokenGated && verified ? 'full' : 'basic' };
    },
    async refresh(refreshToken: string): Promise<Tokens & { success: true; expiresIn: 86_400 }> {
      const tokens = await db.asSystem(async (tx) => {
        const row = await useRefresh(tx, sha256Hex(refreshToken), clock());
        return row && issue(tx, row);
      });
      if (!tokens) throw new AppError(401, 'Invalid refresh token');
      return { success: true, ...tokens, expiresIn: SESSION_S };
    },
    async check(fid: string | number, address: string): Promise<Check> {
      const { contractAddress: _, ...answer } = await gating(address);
      const message = !answer.tokenGated
        ? 'No token is required'
        : answer.hasAccess
          ? 'Access granted'
          : 'The wallet does not hold enough of the token';
      return { fid, address, ...answer, message, timestamp: iso(clock()) };
    },
    read: async (address: string): Promise<GateAnswer & { address: string }> => ({
      address,
      ...(await gating(address)),
    }),
  };
}
