import type { Database, SystemTx, UserTx } from '@troupe/db';
import { AppError, newId, type Clock } from '@troupe/kernel';
import { sql } from 'kysely';
import type { Address, Hex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Keyring } from './keys.ts';
import { viem } from './viem.ts';

export type WalletKind = 'platform' | 'added' | 'cdp' | 'own';

export interface Wallet {
  id: string;
  address: Address;
  kind: WalletKind;
  agentId: string | null;
  createdAt: Date;
}

export interface WalletOwner {
  userId: string;
  /** Left out: the user's own wallet. */
  agentId?: string;
}

const MAX_WALLETS = 20;
const COLUMNS = ['id', 'address', 'kind', 'agent_id', 'created_at'] as const;

interface Row {
  id: string;
  address: string;
  kind: WalletKind;
  agent_id: string | null;
  created_at: Date;
}

const walletOf = (row: Row): Wallet => ({
  id: row.id,
  address: row.address as Address,
  kind: row.kind,
  agentId: row.agent_id,
  createdAt: row.created_at,
});

/** What the key is bound to; it must never change for a wallet that exists. */
const sealedFor = ({ userId, agentId }: WalletOwner): string =>
  agentId === undefined ? `user:${userId}` : `agent:${agentId}`;

interface WalletsDeps {
  db: Database;
  keyring: Keyring;
  clock: Clock;
}

const ofOwner = (tx: UserTx | SystemTx, { userId, agentId }: WalletOwner) =>
  tx
    .selectFrom('wallets')
    .where('user_id', '=', userId)
    .where('agent_id', agentId === undefined ? 'is' : '=', agentId ?? null)
    .orderBy('created_at')
    .orderBy('id');

type New = { kind: WalletKind; address: Address; sealed?: Buffer; custodyId?: string };

function createInsert({ clock }: WalletsDeps) {
  /** Null: there is one already. */
  async function insert(tx: UserTx, { userId, agentId }: WalletOwner, given: New): Promise<Wallet | null> {
    const row = await tx
      .insertInto('wallets')
      .values({
        id: newId(),
        user_id: userId,
        agent_id: agentId ?? null,
        address: viem().getAddress(given.address),
        kind: given.kind,
        sealed_key: given.sealed ?? null,
        custody_id: given.custodyId ?? null,
        created_at: clock(),
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning(COLUMNS)
      .executeTakeFirst();
    return row === undefined ? null : walletOf(row);
  }

  return insert;
}

/** New wallets, of each kind. */
function making({ db, keyring }: WalletsDeps, insert: ReturnType<typeof createInsert>) {
  return {
    /** One wallet made here for each user and each agent; null when it exists. */
    create(owner: WalletOwner): Promise<Wallet | null> {
      return insert(db.user(owner.userId), owner, { kind: 'platform', ...keyring.create(sealedFor(owner)) });
    },

    /** A further wallet of the user's, from a key that the user brings or a new one; null when it exists. */
    add(owner: WalletOwner, privateKey?: Hex): Promise<Wallet | null> {
      const key = keyring.create(sealedFor(owner), privateKey);
      return db.asUser(owner.userId, async (tx) => {
        // The user's row is the lock: counting and adding must not overlap.
        await sql`select 1 from users where id = ${owner.userId} for no key update`.execute(tx);
        const { count } = await ofOwner(tx, owner)
          .clearOrderBy()
          .select((eb) => eb.fn.countAll<bigint>().as('count'))
          .executeTakeFirstOrThrow();
        if (Number(count) >= MAX_WALLETS) throw new AppError(429, `Too many wallets (max ${MAX_WALLETS})`);
        return insert(tx, owner, { kind: 'added', ...key });
      });
    },

    /** A wallet whose key is elsewhere. Who calls this has seen the proof. */
    register(owner: WalletOwner, address: Address): Promise<Wallet | null> {
      return insert(db.user(owner.userId), owner, { kind: 'own', address });
    },

    registerCustody(owner: WalletOwner, address: Address, custodyId: string): Promise<Wallet | null> {
      return insert(db.user(owner.userId), owner, { kind: 'cdp', address, custodyId });
    },
  };
}

export type Wallets = ReturnType<typeof createWallets>;

/** The wallets of users and agents, and the keys of those that the platform keeps. */
export function createWallets(deps: WalletsDeps) {
  const { db, keyring } = deps;
  const insert = createInsert(deps);

  return {
    /** The owner's wallets, the first one first. */
    async list(owner: WalletOwner): Promise<Wallet[]> {
      return (await ofOwner(db.user(owner.userId), owner).select(COLUMNS).execute()).map(walletOf);
    },

    /** Is it a wallet of the user's, or of one of the user's agents? */
    async owns(userId: string, address: string): Promise<boolean> {
      const found = await db
        .user(userId)
        .selectFrom('wallets')
        .select('id')
        .where((eb) => eb(eb.fn('lower', ['address']), '=', address.toLowerCase()))
        .executeTakeFirst();
      return found !== undefined;
    },

    ...making(deps, insert),
    /** The signing account of a wallet that the platform keeps; null when it keeps none of that address. */
    async account(owner: WalletOwner, address: Address): Promise<PrivateKeyAccount | null> {
      const row = await ofOwner(db.user(owner.userId), owner)
        .where((eb) => eb(eb.fn('lower', ['address']), '=', address.toLowerCase()))
        .select(['address', 'sealed_key'])
        .executeTakeFirst();
      if (!row?.sealed_key) return null;
      return keyring.open(sealedFor(owner), { address: row.address, sealed: row.sealed_key });
    },

    /** Seals every key with the newest secret, all or none, so that older secrets can be taken away. */
    rotate(): Promise<number> {
      return db.asSystem(async (tx) => {
        const rows = await tx
          .selectFrom('wallets')
          .select(['id', 'user_id', 'agent_id', 'address', 'sealed_key'])
          .where('sealed_key', 'is not', null)
          .forUpdate()
          .execute();
        for (const { id, user_id, agent_id, address, sealed_key } of rows) {
          const owner = sealedFor({ userId: user_id, agentId: agent_id ?? undefined });
          const sealed = keyring.reseal(owner, { address, sealed: sealed_key! });
          await tx.updateTable('wallets').set({ sealed_key: sealed }).where('id', '=', id).execute();
        }
        return rows.length;
      });
    },
  };
}
