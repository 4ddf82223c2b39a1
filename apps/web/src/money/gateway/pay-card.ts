import type { Wallets } from '@troupe/chain';
import { cardPaymentJob } from '@troupe/contract';
import type { Database, Jobs } from '@troupe/db';
import { formatAmount } from '@troupe/domain';
import { AppError, newId, type Clock } from '@troupe/kernel';
import { INSUFFICIENT_BALANCE, REVENUE, USD_DECIMALS, walletAccount, type Ledger } from '@troupe/ledger';
import { addCardPayment, moveCardPayment, type Part } from './card-store.ts';
import type { Pay } from './service.ts';

/** Payment from topped-up balances: held while the plugin works, taken when it has answered. */

interface CardDeps {
  db: Database;
  ledger: Ledger;
  jobs: Jobs;
  clock: Clock;
  wallets: Wallets;
}

/** After this, nobody is still working on a payment. */
const UNFINISHED_SECONDS = 120;

/** Holds on topped-up balances: set aside, taken or given back. */
function createHolds({ db, ledger, jobs, clock }: CardDeps) {
  const hold = (userId: string, plugin: { id: string; price: bigint }, accounts: string[]): Promise<string> =>
    db.asSystem(async (tx) => {
      const id = newId();
      const parts: Part[] = [];
      for (const { account, amount } of await ledger.spread(tx, accounts, plugin.price)) {
        const held = await ledger.hold(tx, { key: `card:${id}:${account}`, account, amount });
        parts.push({ hold: String(held.id), account, units: String(amount) });
      }
      const now = clock();
      await addCardPayment(tx, {
        id,
        user_id: userId,
        plugin: plugin.id,
        units: plugin.price,
        parts: JSON.stringify(parts),
        status: 'held',
        created_at: now,
        updated_at: now,
      });
      await jobs.send(tx, cardPaymentJob, { id }, { startAfter: UNFINISHED_SECONDS, owner: userId });
      return id;
    });

  const release = ({ id }: { id: string }): Promise<void> =>
    db.asSystem(async (tx) => {
      for (const part of await moveCardPayment(tx, id, 'released', clock()))
        await ledger.release(tx, BigInt(part.hold));
    });

  const take = (id: string, plugin: string): Promise<void> =>
    db.asSystem(async (tx) => {
      const parts = await moveCardPayment(tx, id, 'paid', clock());
      if (parts.length === 0) throw new Error('the payment was given up before the plugin answered');
      await ledger.open(tx, [REVENUE]);
      for (const { hold: held, account, units } of parts) {
        await ledger.capture(tx, BigInt(held), BigInt(units), {
          key: `card:${id}:${account}`,
          kind: 'plugin',
          entries: [
            { account, amount: -BigInt(units) },
            { account: REVENUE.id, amount: BigInt(units) },
          ],
          meta: { plugin },
        });
        await ledger.release(tx, BigInt(held));
      }
    });

  return { hold, release, take };
}

export function createCardPayments(deps: CardDeps): Pay {
  const { jobs, wallets } = deps;
  const { hold, release, take } = createHolds(deps);

  // What a crash interrupted was never answered, so it is not paid either.
  jobs.work(cardPaymentJob, release);

  return async ({ user }, plugin, serve) => {
    const owned = user === null ? [] : await wallets.list({ userId: user.id });
    const accounts = owned.map(({ address }) => walletAccount(address).id);
    const insufficient = (cause?: unknown) => {
      const amount = formatAmount(plugin.price, USD_DECIMALS);
      return new AppError(402, 'insufficient_balance', { plugin: plugin.id, amount, currency: 'USD' }, { cause });
    };
    if (user === null || accounts.length === 0) throw insufficient();
    const id = await hold(user.id, plugin, accounts).catch((error: unknown) => {
      throw error instanceof AppError && error.code === INSUFFICIENT_BALANCE ? insufficient(error) : error;
    });
    try {
      await serve();
    } catch (error) {
      await release({ id });
      throw error;
    }
    await take(id, plugin.id);
    return { receipt: id, headers: {} };
  };
}
