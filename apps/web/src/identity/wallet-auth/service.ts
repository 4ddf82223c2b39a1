import type { Accounts, Entry, Origin, UserRow } from '@troupe/accounts';
import { l2Network, verifySiwe, type Verifier } from '@troupe/chain';
import { WALLET_EMAIL_SUFFIX } from '@troupe/contract';
import type { Database, SystemTx } from '@troupe/db';
import { AppError, randomHex, type Clock } from '@troupe/kernel';
import type { Joining } from '../joining/service.ts';
import { addNonce, hasNonce, useNonce } from './store.ts';

interface WalletAuthDeps {
  db: Database;
  accounts: Accounts;
  joining: Joining;
  /** Undefined: no L2 network is configured. */
  verifier: Verifier | undefined;
  baseUrl: string;
  clock: Clock;
}

const NONCE_LIFE_MS = 600_000;
/** Messages have a dozen short lines. */
const LONGEST_MESSAGE = 4_000;

const invalid = () => new AppError(401, 'Invalid signature');

export type WalletAuth = ReturnType<typeof createWalletAuth>;

export function createWalletAuth({ db, accounts, joining, verifier, baseUrl, clock }: WalletAuthDeps) {
  const { users, links, sessions } = accounts;
  const domain = new URL(baseUrl).host;

  async function userOf(tx: SystemTx, subject: string): Promise<UserRow> {
    const link = await links.find(tx, 'wallet', subject);
    const linked = link && (await users.byId(tx, link.userId));
    if (linked) return linked;
    const email = subject + WALLET_EMAIL_SUFFIX;
    const name = `Wallet:${subject.slice(0, 6)}...${subject.slice(-4)}`;
    // Nobody can register such an address: whoever has it has the wallet.
    const known = await users.byEmail(tx, email);
    if (!known) await joining.admit(tx, { invited: false });
    const created = known ? null : await users.create(tx, { email, name, verified: true });
    if (created) await joining.begin(tx, created);
    const user = created ?? known ?? (await users.byEmail(tx, email));
    if (!user) throw new Error('the user went away during the sign-in');
    await links.save(tx, { userId: user.id, provider: 'wallet', subject });
    return user;
  }

  return {
    async nonce(): Promise<{ nonce: string }> {
      const nonce = randomHex(16);
      const now = clock();
      await db.asSystem((tx) => addNonce(tx, nonce, new Date(now.getTime() + NONCE_LIFE_MS), now));
      return { nonce };
    },
    async signIn(
      { address, message, signature }: { address: string; message: string; signature: string },
      origin: Origin,
    ): Promise<Entry & { user: { id: string; name: string } }> {
      if (message.length > LONGEST_MESSAGE) throw invalid();
      const now = clock();
      const result = await verifySiwe({
        address,
        message,
        signature,
        domain,
        chainId: l2Network.id,
        now,
        nonceValid: (nonce) => hasNonce(db.system, nonce, now),
        verifier,
      });
      if (!result.ok) throw new AppError(result.status, result.reason);
      return db.asSystem(async (tx) => {
        if (!(await useNonce(tx, result.nonce, clock()))) throw invalid();
        const { id, name } = await userOf(tx, result.address.toLowerCase());
        return { user: { id, name }, ...(await sessions.signIn(tx, id, 'wallet', origin)) };
      });
    },
  };
}
