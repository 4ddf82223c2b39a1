import type { Address } from 'viem';
import { authorizationOf, type Authorization } from './authorizations.ts';
import { signedPaymentMethod, type SignedPayment } from './signed-payments.ts';
import { createTerms, type Till, type TillTerms } from './tills.ts';

export interface PaymentTerms {
  /** Each is offered; the payer chooses. */
  tills: readonly Till[];
  /** Binds challenges to this service; at least 32 bytes. */
  secret: string;
}

export type ChargeResult =
  | { paid: false; headers: Record<string, string>; challengeIds: string[]; problem: string | null }
  | { paid: true; headers: Record<string, string>; reference: string };

export interface Charge {
  request: Request;
  /** Decimal text, in the token's own unit. */
  price: string;
  description: string;
  /** A time in ISO form after which the challenge is void. */
  expires: string;
  /**
   * Called with a verified payment; answers the transaction that moved the money, or why it did not. What it throws
   * comes out of the charge.
   */
  settle: (till: Till, payment: Authorization | SignedPayment) => Promise<Settled>;
}

type Settled = { reference: string } | { refused: string };

/** Loaded at the first charge: it takes 30 MB, and most platforms never charge by chain. */
async function loadProtocols() {
  const [{ Errors }, { evm, Mppx, tempo }, Tempo, chains] = await Promise.all([
    import('mppx'),
    import('mppx/server'),
    import('viem/tempo'),
    import('viem/tempo/chains'),
  ]);
  return { Errors, evm, Mppx, tempo, Tempo, chains };
}
type Protocols = Awaited<ReturnType<typeof loadProtocols>>;

/** HTTP 402 in both current protocols, MPP and x402 v2: each till offers what its token can settle. */
export function createCharges({ tills, secret }: PaymentTerms) {
  const offers = tills.map((till) => ({ till, terms: createTerms(till) }));

  return async ({ request, price, description, expires, settle }: Charge): Promise<ChargeResult> => {
    const found = await available(offers, isPaying(request));
    const protocols = await loadProtocols();
    const { Mppx } = protocols;
    const state: { settled: Settled | { error: unknown } | null } = { settled: null };
    const challengeIds: string[] = [];
    let problem: string | null = null;
    const handlers = found.map(({ till, terms }) => {
      const method = methodOf(protocols, request, till, terms, {
        async settle(payment) {
          const settled = await settle(till, payment).catch((error: unknown) => ({ error }));
          state.settled = settled;
          return 'error' in settled ? { refused: 'failed' } : settled;
        },
        unavailable: (error) => void (state.settled = { error }),
      });
      const realm = new URL(request.url).host;
      const payments = Mppx.create({ methods: [method as never], secretKey: secret, realm });
      payments.onChallengeCreated(({ challenge }) => void challengeIds.push(challenge.id));
      payments.onPaymentFailed(({ error }) => void (problem = error.message));
      return (payments as unknown as Charging).charge({ amount: price, description, expires });
    });
    const answer = await Mppx.compose(...(handlers as never[]))(request);
    const { settled } = state;
    if (settled !== null && 'error' in settled) throw settled.error;
    if (answer.status === 402) return { paid: false, headers: headersOf(answer.challenge), challengeIds, problem };
    const reference = settled !== null && 'reference' in settled ? settled.reference : '';
    return { paid: true, headers: headersOf(answer.withReceipt(new Response())), reference };
  };
}

interface Charging {
  charge: (options: { amount: string; description: string; expires: string }) => unknown;
}

const isPaying = ({ headers }: Request): boolean =>
  /^payment /i.test(headers.get('authorization') ?? '') || headers.has('payment-signature') || headers.has('x-payment');

type Offer = { till: Till; terms: () => Promise<TillTerms> };

/** A chain that is down is not offered; but who has paid is never told to pay elsewhere. */
async function available(offers: readonly Offer[], all: boolean): Promise<{ till: Till; terms: TillTerms }[]> {
  const asked = await Promise.allSettled(offers.map(async ({ till, terms }) => ({ till, terms: await terms() })));
  const up = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const down = asked.find((one) => one.status === 'rejected');
  if (down && (all || up.length === 0)) throw down.reason;
  return up;
}

interface Paying {
  settle: (payment: Authorization | SignedPayment) => Promise<Settled>;
  unavailable: (error: unknown) => void;
}

function methodOf(
  protocols: Protocols,
  request: Request,
  { chain, token, payee }: Till,
  terms: TillTerms,
  paying: Paying,
) {
  const { decimals } = terms;
  if (terms.kind === 'transaction') return signedPaymentMethod(protocols, { chain, token, payee, decimals, ...paying });
  const { name, version } = terms;
  const { Errors, evm } = protocols;
  return evm.charge({
    authorization: { name, version },
    chainId: chain.network.id,
    currency: token as Address,
    decimals,
    recipient: payee,
    settle: async ({ credential, payload }) => {
      const mpp = /^payment /i.test(request.headers.get('authorization') ?? '');
      const settled = await paying.settle(authorizationOf(payload, mpp ? credential.challenge.id : null));
      if ('reference' in settled) return settled;
      throw new Errors.VerificationFailedError({ reason: settled.refused });
    },
  });
}

const headersOf = (response: Response): Record<string, string> =>
  Object.fromEntries([...response.headers].filter(([name]) => name !== 'content-type'));
