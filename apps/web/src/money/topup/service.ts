import type { Database } from '@troupe/db';
import { AppError, type Clock, type Log } from '@troupe/kernel';
import { CARD_PROCESSOR, USD_DECIMALS, walletAccount, type Ledger } from '@troupe/ledger';
import type { Stripe } from 'stripe';
import { type CardEvent, type CardProcessor } from '../card-processor.ts';
import * as store from './store.ts';
import type { Checkout } from './store.ts';

interface TopUpDeps {
  db: Database;
  ledger: Ledger;
  processor: CardProcessor;
  clock: Clock;
  log: Log;
  /** Public address of web. */
  baseUrl: string;
}

export type TopUps = ReturnType<typeof createTopUps>;

const CURRENCY = 'usd';
const UNITS_PER_CENT = 10n ** BigInt(USD_DECIMALS - 2);
/** The second is for ways of paying that take days. */
const PAID_EVENTS: ReadonlySet<string> = new Set([
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
]);

/** Checkouts that were paid. */
function createCredit({ db, ledger, clock, log }: TopUpDeps) {
  /** Credits the checkout once, with what was stored when it was opened. */
  const credit = (eventId: string, type: string, paid: Stripe.Checkout.Session): Promise<void> =>
    db.asSystem(async (tx) => {
      if (!(await store.takeEvent(tx, eventId, type, clock()))) return;
      const checkout = await store.find(tx, paid.id);
      const problem = checkout === null ? 'it was not opened here' : differenceOf(checkout, paid);
      if (checkout === null || problem !== null) {
        log.error({ event: eventId, checkout: paid.id, problem }, 'a top-up was reported and not credited');
        return;
      }
      if (!(await store.pay(tx, checkout.id, clock()))) return;
      const wallet = walletAccount(checkout.address);
      const units = BigInt(checkout.cents) * UNITS_PER_CENT;
      await ledger.open(tx, [CARD_PROCESSOR, wallet]);
      await ledger.post(tx, {
        key: `top-up:${checkout.id}`,
        kind: 'top-up',
        entries: [
          { account: CARD_PROCESSOR.id, amount: -units },
          { account: wallet.id, amount: units },
        ],
        meta: { checkout: checkout.id, event: eventId },
      });
    });

  return credit;
}

export function createTopUps(deps: TopUpDeps) {
  const { db, processor, clock, baseUrl } = deps;
  const credit = createCredit(deps);

  return {
    async start(address: string, cents: number): Promise<{ url: string; sessionId: string }> {
      const { id, url } = await processor
        .call((api) =>
          api.checkout.sessions.create({
            mode: 'payment',
            line_items: [
              {
                quantity: 1,
                price_data: { currency: CURRENCY, unit_amount: cents, product_data: { name: 'Wallet top-up' } },
              },
            ],
            metadata: { type: 'wallet_top_up', walletAddress: address, amountCents: String(cents) },
            success_url: `${baseUrl}/dashboard/wallet?top_up=success`,
            cancel_url: `${baseUrl}/dashboard/wallet?top_up=cancelled`,
          }),
        )
        .catch(as500)
        .catch((cause: unknown) => {
          if (cause instanceof AppError && cause.status === 500) throw cause;
          throw new AppError(500, 'Checkout failed', {}, { cause });
        });
      if (url === null) throw new Error('the card processor gave no address for the checkout');
      // Nobody can pay it before this: its address is not out yet.
      await store.add(db.system, { id, address: address.toLowerCase(), cents, currency: CURRENCY }, clock());
      return { url, sessionId: id };
    },

    /** An event of the card processor, whatever it is about. */
    async take(event: CardEvent): Promise<void> {
      if (!PAID_EVENTS.has(event.type)) return;
      const checkout = event.data.object as Stripe.Checkout.Session;
      if (checkout.metadata?.['type'] !== 'wallet_top_up') return;
      // Its money comes later, with an event of its own.
      if (checkout.payment_status === 'unpaid') return;
      await credit(event.id, event.type, checkout);
    },
  };
}

/** Top-ups say with 500 what billing says with 503: there is no processor. */
export function as500(error: unknown): never {
  if (error instanceof AppError && error.code === 'NO_PROCESSOR')
    throw new AppError(500, error.message, {}, { cause: error });
  throw error;
}

/** What the report says other than the checkout that was opened. */
function differenceOf(opened: Checkout, paid: Stripe.Checkout.Session): string | null {
  if (paid.payment_status !== 'paid') return 'it is not paid';
  if (paid.amount_total !== opened.cents) return 'the amount differs';
  if (paid.currency !== opened.currency) return 'the currency differs';
  if (paid.metadata?.['walletAddress']?.toLowerCase() !== opened.address) return 'the address differs';
  if (paid.metadata['amountCents'] !== String(opened.cents)) return 'the amount differs';
  return null;
}
