import type { Accounts } from '@troupe/accounts';
import type { Database, SystemTx } from '@troupe/db';
import { isPlan, PLAN_LIMITS, PLANS, type Plan, type SubscriptionStatus } from '@troupe/domain';
import { AppError, isoOrNull, type Clock, type Log, type User } from '@troupe/kernel';
import type { CardEvent, CardProcessor } from '../card-processor.ts';
import { newsOf, standingOf, type SubscriptionNews } from './events.ts';
import {
  customerOf,
  lockUser,
  saveCustomer,
  saveSubscription,
  subscriptionsOf,
  takeEvent,
  userOfCustomer,
} from './store.ts';

interface Price {
  plan: Plan;
  amount: number;
  currency: 'GBP';
  interval: 'month';
}

interface BillingDeps {
  db: Database;
  accounts: Accounts;
  processor: CardProcessor;
  baseUrl: string;
  clock: Clock;
  log: Log;
}

const PRICES: Price[] = PLANS.map((plan) => ({
  plan,
  amount: PLAN_LIMITS[plan].price,
  currency: 'GBP',
  interval: 'month',
}));

const LIVE = new Set<string>(['active', 'past_due']);

/** What the card processor’s news changes. */
function createNews({ accounts, clock, log }: BillingDeps) {
  /** Whom the news is about. The customer decides; what we told at checkout helps when that is not known yet. */
  async function userOf(tx: SystemTx, { customerId, userId }: SubscriptionNews): Promise<string | null> {
    const owner = customerId === null ? null : await userOfCustomer(tx, customerId);
    return owner ?? userId;
  }

  async function apply(tx: SystemTx, news: SubscriptionNews): Promise<void> {
    const userId = await userOf(tx, news);
    if (userId === null || !(await lockUser(tx, userId)))
      return log.warn({ subscription: news.id }, 'a subscription of nobody here');
    if (news.customerId !== null) await saveCustomer(tx, userId, news.customerId, clock());

    const all = await subscriptionsOf(tx, userId);
    const old = all.find(({ id }) => id === news.id);
    // Events come in any order; an ended subscription stays ended.
    if (old && (old.status === 'cancelled' || old.event_at > news.eventAt)) return;
    const plan = news.plan ?? old?.plan;
    if (plan === undefined) return log.error({ subscription: news.id }, 'a subscription to no plan of ours');
    const row = {
      id: news.id,
      plan,
      status: news.status,
      renews_at: news.renewsAt === undefined ? (old?.renews_at ?? null) : news.renewsAt,
      event_at: news.eventAt,
      // Several events may bear the same second.
      ...(old && news.first && { ...old, renews_at: old.renews_at ?? news.renewsAt ?? null }),
    };
    await saveSubscription(tx, userId, row);

    const before = standingOf(all);
    const after = standingOf([...all.filter(({ id }) => id !== news.id), row]);
    // What an administrator granted stays until the processor has something new to say.
    if (before?.plan === after?.plan && before?.status === after?.status) return;
    const change = after
      ? { plan: after.plan, subscriptionStatus: after.status }
      : { subscriptionStatus: 'inactive' as const };
    await accounts.users.changePlan(tx, userId, change, { reason: 'billing' });
  }

  return apply;
}

function createCustomers({ db, processor, clock }: BillingDeps) {
  /** Made once for each user, so that all subscriptions of a user are under one customer. */
  async function customerFor(user: User): Promise<string> {
    const known = await customerOf(db.user(user.id), user.id);
    if (known !== null) return known;
    const email = user.email.endsWith('@wallet.svc') ? undefined : user.email;
    const { id } = await processor.call((api) =>
      api.customers.create(
        { email, name: user.name, metadata: { userId: user.id } },
        { idempotencyKey: `customer-${user.id}` },
      ),
    );
    return db.asSystem(async (tx) => {
      await saveCustomer(tx, user.id, id, clock());
      return (await customerOf(tx, user.id)) ?? id;
    });
  }

  return customerFor;
}

/** At the card processor. */
function buying({ db, processor }: BillingDeps, page: string, customerFor: ReturnType<typeof createCustomers>) {
  return {
    async checkout(user: User, plan: Plan): Promise<{ url: string; sessionId: string }> {
      if ((await subscriptionsOf(db.user(user.id), user.id)).some(({ status }) => LIVE.has(status)))
        throw new AppError(409, 'You have a subscription. Change it in the billing portal.');
      const customer = await customerFor(user);
      const metadata = { userId: user.id, plan };
      const session = await processor.call((api) =>
        api.checkout.sessions.create({
          mode: 'subscription',
          customer,
          client_reference_id: user.id,
          line_items: [
            {
              quantity: 1,
              price_data: {
                currency: 'gbp',
                unit_amount: PLAN_LIMITS[plan].price * 100,
                recurring: { interval: 'month' },
                product_data: { name: `Troupe ${plan}`, metadata: { plan } },
              },
            },
          ],
          metadata,
          subscription_data: { metadata },
          success_url: `${page}?checkout=success`,
          cancel_url: `${page}?checkout=cancelled`,
        }),
      );
      if (!session.url) throw new AppError(502, 'Payment processor unavailable');
      return { url: session.url, sessionId: session.id };
    },
    async portal(user: User): Promise<{ url: string }> {
      const customer = await customerOf(db.user(user.id), user.id);
      if (customer === null) throw new AppError(404, 'No subscription');
      const { url } = await processor.call((api) => api.billingPortal.sessions.create({ customer, return_url: page }));
      return { url };
    },
  };
}

export type Billing = ReturnType<typeof createBilling>;

export function createBilling(deps: BillingDeps) {
  const { db, baseUrl, clock } = deps;
  const page = `${baseUrl}/dashboard/billing`;

  const customerFor = createCustomers(deps);
  const apply = createNews(deps);

  return {
    async read(
      user: User,
    ): Promise<{ plan: Plan | null; status: SubscriptionStatus; renewsAt: string | null; prices: Price[] }> {
      const subscriptions = await subscriptionsOf(db.user(user.id), user.id);
      const live = subscriptions.find(({ status, plan }) => status === 'active' && plan === user.plan);
      return {
        plan: isPlan(user.plan) ? user.plan : null,
        status: user.subscriptionStatus,
        renewsAt: isoOrNull(live?.renews_at ?? null),
        prices: PRICES,
      };
    },
    ...buying(deps, page, customerFor),
    /** An event of the card processor, whatever it is about. */
    async take(event: CardEvent): Promise<void> {
      const news = newsOf(event);
      await db.asSystem(async (tx) => {
        if ((await takeEvent(tx, event, clock())) && news) await apply(tx, news);
      });
    },
  };
}
