import {
  accountOf,
  ChainUnavailable,
  createBalances,
  createTokenFacts,
  explorerAddressUrl,
  STABLECOINS,
  type ChainClient,
  type ChainTransfer,
  type Indexer,
  type Network,
  type Wallet,
  type Wallets,
} from '@troupe/chain';
import type { Database } from '@troupe/db';
import { formatAmount } from '@troupe/domain';
import { AppError, iso, type Log } from '@troupe/kernel';
import { USD_DECIMALS, walletAccount, type Ledger } from '@troupe/ledger';
import type { Custody } from './custody.ts';

export interface WalletDeps {
  wallets: Wallets;
  network: Network;
  /** Undefined: no RPC is configured. */
  chain?: ChainClient;
  indexer?: Indexer;
  custody: Custody;
  log: Log;
  db: Database;
  ledger: Ledger;
}

export type WalletService = ReturnType<typeof createWalletService>;

type Hex = `0x${string}`;

const SETUP = 'POST /api/wallet with {"action":"create"}';

/** What the chain and the ledger say of addresses. */
function createChainReads({ chain, log, db, ledger }: WalletDeps) {
  const balances = chain && createBalances({ chain, log });
  const factsOf = chain && createTokenFacts(chain);

  /** What the chain answers, or an error with that text. */
  async function ask<T>(failure: string, question: () => Promise<T>): Promise<T> {
    try {
      return await question();
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      log.warn({ err: error }, failure);
      throw new AppError(500, failure, {}, { cause: error });
    }
  }

  const configured = <T>(part: T | undefined): T => {
    if (part === undefined) throw new AppError(500, 'Chain RPC not configured');
    return part;
  };

  const balance = (address: string) => ask('Failed to fetch balance', () => configured(balances)(address as Hex));

  /** On the chain; without one, what the platform's ledger holds for it. */
  async function ownBalance(address: string): Promise<string> {
    if (chain !== undefined) return (await balance(address)).totalUsd;
    return formatAmount((await ledger.balance(db.system, walletAccount(address).id)).balance, USD_DECIMALS);
  }

  return { factsOf, ask, configured, balance, ownBalance };
}

/** The wallet that a user has here. */
function createOwn({ wallets, network }: WalletDeps) {
  async function mainWallet(userId: string): Promise<Wallet | null> {
    return (await wallets.list({ userId }))[0] ?? null;
  }

  async function create(userId: string) {
    const made = (await mainWallet(userId)) === null ? await wallets.create({ userId }) : null;
    if (made === null) throw new AppError(400, 'Wallet already exists');
    return { address: made.address, network: network.name, message: 'Wallet created' };
  }

  async function aboutSeed(userId: string) {
    const wallet = await mainWallet(userId);
    if (wallet === null) throw new AppError(404, 'No wallet found');
    return {
      address: wallet.address,
      network: network.name,
      createdAt: iso(wallet.createdAt),
      warning: 'The seed is kept encrypted and is never shown. Keep only small amounts in this wallet.',
    };
  }

  return { mainWallet, create, aboutSeed };
}

/** Wallets that somebody else keeps, or the user brings. */
function keeping({ wallets, network, custody }: WalletDeps) {
  return {
    custody: () => custody.offer(network),

    async createInCustody(userId: string) {
      const existing = (await wallets.list({ userId })).find(({ kind }) => kind === 'cdp');
      // The same user always gets the same wallet there, so a lost answer is repaired by asking again.
      const { address, walletId } = await custody.createWallet(userId);
      if (existing === undefined) await wallets.registerCustody({ userId }, address, walletId);
      return { success: true as const, walletAddress: address, walletId, networks: custody.networks };
    },

    async add(userId: string, privateKey: string | undefined) {
      if (privateKey !== undefined && accountOf(privateKey) === null) throw new AppError(400, 'Invalid private key');
      const wallet = await wallets.add({ userId }, privateKey as Hex | undefined);
      if (wallet === null) throw new AppError(400, 'Wallet already exists');
      return { success: true as const, address: wallet.address, network: network.name };
    },
  };
}

/** What a user is told of the own wallet. */
function status(
  { network, custody }: WalletDeps,
  { ownBalance }: ReturnType<typeof createChainReads>,
  { mainWallet }: ReturnType<typeof createOwn>,
) {
  return {
    /** The own wallet, or how custody is set up. */
    async status(userId: string | undefined) {
      if (custody.configured) return custody.status();
      if (userId === undefined) throw new AppError(401, 'Unauthorized');
      const wallet = await mainWallet(userId);
      if (wallet === null) {
        const message = `No wallet yet. Create one: ${SETUP}`;
        return { address: null, balance: '0.00', network: network.name, hasWallet: false as const, message };
      }
      return {
        address: wallet.address,
        balance: await ownBalance(wallet.address),
        network: network.name,
        hasWallet: true as const,
        createdAt: iso(wallet.createdAt),
      };
    },
  };
}

export function createWalletService(deps: WalletDeps) {
  const { network, chain, indexer } = deps;
  const reads = createChainReads(deps);
  const { factsOf, ask, configured, balance } = reads;

  const own = createOwn(deps);
  const { mainWallet, create, aboutSeed } = own;

  return {
    balance,

    ...status(deps, reads, own),
    act(userId: string, action: 'create' | 'get_seed' | 'export_seed') {
      if (action === 'export_seed') throw new AppError(403, 'Seed export is disabled');
      return action === 'create' ? create(userId) : aboutSeed(userId);
    },

    async address(userId: string | undefined) {
      if (userId === undefined) {
        const message = 'Sign in to see the address of your wallet';
        return { authenticated: false as const, needsAuth: true as const, message };
      }
      const wallet = await mainWallet(userId);
      if (wallet !== null) return { authenticated: true as const, address: wallet.address };
      return { authenticated: true as const, address: null, error: 'No wallet found', setup: SETUP };
    },

    ...keeping(deps),
    async transactions(address: string, limit: number) {
      const client = configured(chain);
      const [currentBlock, found] = await Promise.all([
        ask('Failed to fetch transactions', () => client.read((viem) => viem.getBlockNumber())),
        indexer?.transfers(address as Hex, limit) ?? [],
      ]);
      return {
        address,
        chain: network.name,
        chainId: network.id,
        currentBlock: Number(currentBlock),
        transactions: await Promise.all(found.map((transfer) => shown(factsOf, address, transfer))),
        note: 'Stablecoin transfers of wallets on this platform; other addresses have none here.',
        explorerUrl: explorerAddressUrl(network, address),
      };
    },
  };
}

type FactsOf = ReturnType<typeof createChainReads>['factsOf'];

async function shown(factsOf: FactsOf, address: string, { hash, from, to, token, units, block, time }: ChainTransfer) {
  const own = address.toLowerCase();
  const known = STABLECOINS.find((coin) => coin.address === token) ?? { address: token, symbol: token };
  const { decimals } = (await factsOf?.(known)) ?? { decimals: 6 };
  return {
    hash,
    direction: from === to ? ('self' as const) : from === own ? ('out' as const) : ('in' as const),
    from,
    to,
    token,
    symbol: known.symbol,
    amount: formatAmount(units, decimals, 0),
    blockNumber: Number(block),
    timestamp: iso(time),
  };
}
