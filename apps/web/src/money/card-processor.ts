import { AppError, secretList, type Clock, type Settings } from '@troupe/kernel';
import type { Stripe } from 'stripe';

export type CardEvent = Stripe.Event;

/** The card processor's API, and the proof that an event is its own. */
export interface CardProcessor {
  /** Runs `work` with the processor's client; what fails there is a 502. */
  call: <T>(work: (api: Stripe) => Promise<T>) => Promise<T>;
  /** The event, when the signature is right and made within five minutes of now. */
  event: (payload: string, signature: string | string[] | undefined) => Promise<CardEvent>;
}

interface CardProcessorDeps {
  settings: Pick<Settings, 'BILLING_SECRET_KEY' | 'BILLING_WEBHOOK_SECRET' | 'BILLING_API_BASE'>;
  clock: Clock;
}

const NOT_CONFIGURED = 'Payment processor not configured';

const TOLERANCE_S = 300;
const TIMEOUT_MS = 10_000;

export function createCardProcessor({ settings, clock }: CardProcessorDeps): CardProcessor {
  const { BILLING_SECRET_KEY: key, BILLING_WEBHOOK_SECRET: secrets, BILLING_API_BASE: base } = settings;
  const missing = () => new AppError(503, NOT_CONFIGURED, {}, { code: 'NO_PROCESSOR' });
  // Loaded at first use: most installations never do.
  const load = async () => (await import('stripe')).default;

  let client: Stripe | undefined;
  const connect = async (secretKey: string): Promise<Stripe> =>
    (client ??= new (await load())(secretKey, {
      ...(base === undefined ? {} : addressOf(base)),
      timeout: TIMEOUT_MS,
      maxNetworkRetries: 1,
      telemetry: false,
    }));

  return {
    async call(work) {
      if (key === undefined) throw missing();
      const api = await connect(key);
      try {
        return await work(api);
      } catch (cause) {
        throw new AppError(502, 'Payment processor unavailable', {}, { cause });
      }
    },
    async event(payload, signature) {
      if (secrets === undefined) throw missing();
      const { webhooks } = await load();
      const now = clock().getTime();
      const read = (signed: string, secret: string): CardEvent =>
        webhooks.constructEvent(payload, signed, secret, TOLERANCE_S, undefined, now);
      try {
        if (typeof signature !== 'string') throw new Error('no signature');
        const event = firstOf(secretList(secrets), (secret) => read(signature, secret));
        // The library looks only at how old it is.
        if (!(madeAt(signature) - now / 1000 <= TOLERANCE_S)) throw new Error('signed in the future');
        if (typeof event.id !== 'string' || typeof event.type !== 'string') throw new Error('not an event');
        return event;
      } catch (cause) {
        throw new AppError(400, 'Invalid signature', {}, { cause });
      }
    },
  };
}

/** Each address that the processor sends to has a secret of its own. */
function firstOf<T>(secrets: readonly string[], read: (secret: string) => T): T {
  let failure: unknown;
  for (const secret of secrets) {
    try {
      return read(secret);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function addressOf(base: string): { protocol: 'http' | 'https'; host: string; port: string } {
  const { protocol, hostname, port } = new URL(base);
  return {
    protocol: protocol === 'http:' ? 'http' : 'https',
    host: hostname,
    port: port || (protocol === 'http:' ? '80' : '443'),
  };
}

/** Read as the library reads it: the last of several times, its leading digits. */
const madeAt = (signature: string): number =>
  Number.parseInt(
    signature
      .split(',')
      .findLast((part) => part.startsWith('t='))
      ?.slice(2) ?? '',
    10,
  );
