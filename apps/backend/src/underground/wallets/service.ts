import {
  ChainUnavailable,
  L2_USDC,
  tokenBalance,
  USDC_DECIMALS,
  walletProven,
  type Address,
  type ChainClient,
  type Verifier,
  type Wallet,
  type Wallets,
} from '@troupe/chain';
import type { Database } from '@troupe/db';
import { formatAmount } from '@troupe/domain';
import { AppError, createReadTurns, iso } from '@troupe/kernel';
import { owedAccount, USD_DECIMALS, walletAccount, type Ledger } from '@troupe/ledger';
import type { MustOwn } from '../access.ts';
import * as store from './store.ts';

export interface AgentWalletsDeps {
  db: Database;
  ledger: Ledger;
  wallets: Wallets;
  verifier: Verifier;
  mustOwn: MustOwn;
  l2?: ChainClient;
}

const shown = ({ address, agentId, kind, createdAt }: Wallet) => ({
  address,
  agentId: agentId ?? '',
  kind,
  createdAt: iso(createdAt),
});

/** The wallets of an agent: made here, or its own. */
function createMaking({ wallets, verifier }: AgentWalletsDeps) {
  const first = async (owner: { userId: string; agentId: string }, is: (wallet: Wallet) => boolean) =>
    (await wallets.list(owner)).find(is);

  /** The wallet that the platform makes for each agent, made at the first need. */
  async function platformWallet(owner: {
    userId: string;
    agentId: string;
  }): Promise<{ wallet: Wallet; made: boolean }> {
    const made = await wallets.create(owner);
    const wallet = made ?? (await first(owner, ({ kind }) => kind === 'platform'));
    if (!wallet) throw new Error('an agent’s wallet neither exists nor can be made');
    return { wallet, made: made !== null };
  }

  async function register(
    owner: { userId: string; agentId: string },
    address: string,
    proof: string | undefined,
  ): Promise<{ wallet: Wallet; made: boolean }> {
    const { agentId } = owner;
    if (!(await walletProven(verifier, { address, agentId, proof }))) throw new AppError(401, 'Invalid wallet proof');
    const made = await wallets.register(owner, address as Address);
    const wallet = made ?? (await first(owner, (known) => known.address.toLowerCase() === address.toLowerCase()));
    if (!wallet) throw new Error('an own wallet neither exists nor can be registered');
    return { wallet, made: made !== null };
  }

  return { platformWallet, register };
}

export type AgentWallets = ReturnType<typeof createAgentWallets>;

export function createAgentWallets(deps: AgentWalletsDeps) {
  const { db, ledger, mustOwn, l2 } = deps;
  const { platformWallet, register } = createMaking(deps);
  const reading = createReadTurns();

  async function listed(userId: string) {
    const rows = await store.agentWallets(db.user(userId));
    const accounts = rows.flatMap(({ address }) => [walletAccount(address).id, owedAccount(address).id]);
    const balance = await ledger.balances(db.system, accounts);
    const wallets = rows.map(({ address, agent_id, kind, created_at }) => ({
      address,
      agentId: agent_id ?? '',
      kind,
      createdAt: iso(created_at),
      available: formatAmount(balance(walletAccount(address).id).available, USD_DECIMALS),
      owed: formatAmount(balance(owedAccount(address).id).balance, USD_DECIMALS),
    }));
    return { wallets, count: wallets.length };
  }

  return {
    platformWallet,
    addressesOf: store.addressesOf,

    async create(userId: string, { agentId, address, proof }: { agentId: string; address?: string; proof?: string }) {
      await mustOwn(userId, agentId);
      const owner = { userId, agentId };
      const { wallet, made } =
        address === undefined ? await platformWallet(owner) : await register(owner, address, proof);
      return { made, wallet: shown(wallet) };
    },

    list: (userId: string) => reading(userId, () => listed(userId)),

    /** What the chain says is anybody's to know; what the ledger says, only the owner's. */
    async balance(userId: string, address: string) {
      if (l2) {
        const units = await tokenBalance(l2, L2_USDC, address as Address).catch((error: unknown) => {
          if (error instanceof ChainUnavailable) throw new AppError(503, 'Chain unavailable', {}, { cause: error });
          throw error;
        });
        return { address, balance_usdc: Number(formatAmount(units, USDC_DECIMALS)) };
      }
      if (!(await store.ownAddress(db.user(userId), address))) throw new AppError(404, 'Wallet not found');
      const { available } = await ledger.balance(db.system, walletAccount(address).id);
      return { address, balance_usdc: Number(formatAmount(available, USD_DECIMALS)) };
    },
  };
}
