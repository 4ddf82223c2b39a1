import { isPlan, PLAN_LIMITS, PLANS, planRank, type Plan, type SubscriptionStatus } from '@troupe/domain';
import type { Stripe } from 'stripe';
import type { CardEvent } from '../card-processor.ts';

/** What an event says about one subscription. */
export interface SubscriptionNews {
  id: string;
  customerId: string | null;
  /** Who it is for, as we told the processor at checkout. */
  userId: string | null;
  plan: Plan | null;
  status: SubscriptionStatus;
  /** Undefined: the event does not say. */
  renewsAt?: Date | null;
  eventAt: Date;
  /** The first event about a subscription: whatever else is known about it is newer. */
  first: boolean;
}

const STATUS: Readonly<Record<string, SubscriptionStatus>> = {
  active: 'active',
  trialing: 'active',
  past_due: 'past_due',
  unpaid: 'past_due',
  canceled: 'cancelled',
};

const idOf = (given: string | { id: string } | null | undefined): string | null =>
  typeof given === 'string' ? given : (given?.id ?? null);

const dateOf = (seconds: number): Date => new Date(seconds * 1000);

/** Null: the event is about something else. */
export function newsOf(event: CardEvent): SubscriptionNews | null {
  switch (event.type) {
    case 'customer.subscription.created':
    case 'customer.subscription.updated':
    case 'customer.subscription.deleted':
      return ofSubscription(event.data.object, event);
    case 'checkout.session.completed':
      return ofCheckout(event.data.object, event);
    default:
      return null;
  }
}

function ofSubscription(subscription: Stripe.Subscription, { type, created }: CardEvent): SubscriptionNews {
  const item = subscription.items?.data?.[0];
  const ended = type === 'customer.subscription.deleted';
  const end = item?.current_period_end;
  const renews = !ended && !subscription.cancel_at_period_end && typeof end === 'number';
  return {
    id: subscription.id,
    customerId: idOf(subscription.customer),
    userId: subscription.metadata?.['userId'] ?? null,
    plan: planOf(item?.price, subscription.metadata),
    status: ended ? 'cancelled' : (STATUS[subscription.status] ?? 'inactive'),
    renewsAt: renews ? dateOf(end) : null,
    eventAt: dateOf(created),
    first: type === 'customer.subscription.created',
  };
}

/** Completed is not yet paid: some ways to pay take days, and the subscription's own events tell then. */
function ofCheckout(session: Stripe.Checkout.Session, { created }: CardEvent): SubscriptionNews | null {
  const id = idOf(session.subscription);
  if (session.mode !== 'subscription' || id === null || session.payment_status === 'unpaid') return null;
  return {
    id,
    customerId: idOf(session.customer),
    userId: session.client_reference_id ?? session.metadata?.['userId'] ?? null,
    plan: planOf(undefined, session.metadata),
    status: 'active',
    eventAt: dateOf(created),
    first: false,
  };
}

/** What is paid decides: the note from the checkout is stale once the plan was changed in the portal. */
function planOf(price: Stripe.Price | undefined, metadata: Stripe.Metadata | null): Plan | null {
  if (isPlan(price?.lookup_key)) return price.lookup_key;
  const paid = PLANS.find(
    (plan) =>
      price?.currency === 'gbp' &&
      price.recurring?.interval === 'month' &&
      price.unit_amount === PLAN_LIMITS[plan].price * 100,
  );
  const noted = metadata?.['plan'];
  return paid ?? (isPlan(noted) ? noted : null);
}

export interface Standing {
  plan: Plan;
  status: SubscriptionStatus;
}

const WEIGHT: Readonly<Record<SubscriptionStatus, number>> = { active: 3, past_due: 2, cancelled: 1, inactive: 0 };

/** What all of a user's subscriptions come to; null when none ever counted. */
export function standingOf(subscriptions: readonly Standing[]): Standing | null {
  const [best] = subscriptions
    .filter(({ status }) => status !== 'inactive')
    .toSorted((a, b) => WEIGHT[b.status] - WEIGHT[a.status] || planRank(b.plan) - planRank(a.plan));
  return best ? { plan: best.plan, status: best.status } : null;
}
