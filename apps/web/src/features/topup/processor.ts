import type { Stripe } from 'stripe';
import { AppError, type Clock, type Settings } from '@troupe/kernel';

/** The card processor: hosted checkouts and the events that it reports. Its library is loaded at the first use. */

export interface NewCheckout {
  cents: number;
  currency: string;
  address: string;
  successUrl: string;
  cancelUrl: string;
}

export type ProcessorEvent = Stripe.Event;
export type ProcessorCheckout = Stripe.Checkout.Session;

const MAX_AGE_SECONDS = 300;
const TIMEOUT_MS = 10_000;

const notConfigured = (): AppError => new AppError(500, 'Payment processor not configured');

export function createProcessor({ settings, clock }: { settings: Settings; clock: Clock }) {
  const { BILLING_SECRET_KEY: key, BILLING_WEBHOOK_SECRET: secret, BILLING_API_BASE: base } = settings;
  let loaded: Promise<Stripe> | undefined;

  async function load(): Promise<Stripe> {
    if (key === undefined) throw notConfigured();
    const { Stripe: Library } = await import('stripe');
    return new Library(key, { ...hostOf(base), timeout: TIMEOUT_MS, maxNetworkRetries: 1, telemetry: false });
  }
  const client = (): Promise<Stripe> => (loaded ??= load());

  return {
    async checkout({ cents, currency, address, successUrl, cancelUrl }: NewCheckout) {
      const stripe = await client();
      const { id, url } = await stripe.checkout.sessions
        .create({
          mode: 'payment',
          line_items: [
            { quantity: 1, price_data: { currency, unit_amount: cents, product_data: { name: 'Wallet top-up' } } },
          ],
          metadata: { type: 'wallet_top_up', walletAddress: address, amountCents: String(cents) },
          success_url: successUrl,
          cancel_url: cancelUrl,
        })
        .catch((cause: unknown) => {
          // The library's errors carry the processor's status and text, which are not the caller's business.
          throw new Error('the card processor opened no checkout', { cause });
        });
      if (url === null) throw new Error('the card processor gave no address for the checkout');
      return { id, url };
    },

    /** The event of a signed message; 400 when the signature is not the processor's, or not of now. */
    async event(body: string, header: unknown): Promise<ProcessorEvent> {
      if (secret === undefined) throw notConfigured();
      const stripe = await client();
      const invalid = (cause?: unknown) => new AppError(400, 'Invalid signature', {}, { cause });
      if (typeof header !== 'string') throw invalid();
      // The library looks at the age only, and takes signatures from the future.
      const times = header.match(/(?<=^|,)t=\d{1,12}(?=,|$)/g) ?? [];
      const age = Math.floor(clock().getTime() / 1000) - Number(times[0]?.slice(2));
      if (times.length !== 1 || Math.abs(age) > MAX_AGE_SECONDS) throw invalid();
      try {
        return stripe.webhooks.constructEvent(body, header, secret, 0);
      } catch (error) {
        throw invalid(error);
      }
    },
  };
}

export type Processor = ReturnType<typeof createProcessor>;

function hostOf(base: string | undefined): Stripe.StripeConfig {
  if (base === undefined) return {};
  const { hostname, port, protocol } = new URL(base);
  const secure = protocol === 'https:';
  return { host: hostname, port: port || (secure ? 443 : 80), protocol: secure ? 'https' : 'http' };
}
