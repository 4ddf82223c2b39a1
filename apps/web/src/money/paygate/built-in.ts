import type { Wallets } from '@troupe/chain';
import type { Database } from '@troupe/db';
import { formatAmount } from '@troupe/domain';
import { AppError, iso, type Clock } from '@troupe/kernel';
import { USD_DECIMALS, walletAccount, type Account, type Ledger } from '@troupe/ledger';
import { PaymentProblem, type Colony, type Member } from './colony.ts';
import type { Payouts } from './payouts.ts';
import { joinColony, markPaid } from './store.ts';

interface BuiltInDeps {
  db: Database;
  ledger: Ledger;
  wallets: Wallets;
  clock: Clock;
  payouts: Payouts;
  /** What is offered, in millionths of a dollar. */
  offers: readonly { slug: string; price: bigint }[];
  /** Calls that an agent has paid, and to how many payees. */
  record: (userId: string, agentId: string) => Promise<{ paid: number; payees: number }>;
}

const START = 32;
const MAX = 100;
/** Millionths of a dollar for a call, before the discount. */
const RATE = 50_000n;
const TIERS = [
  { tier: 'elite', from: 80, discount: 30 },
  { tier: 'high', from: 60, discount: 20 },
  { tier: 'standard', from: 40, discount: 10 },
  { tier: 'low', from: 20, discount: 0 },
  { tier: 'minimal', from: 0, discount: 0 },
] as const;
const ABOUT: Readonly<Record<string, string>> = {
  agent: 'Ask an agent',
  'generate-text': 'Write text from a prompt',
  tts: 'Turn text into speech',
  stt: 'Turn speech into text',
};
const CURRENCIES: ReadonlySet<string> = new Set(['USDC', 'USD']);

const usd = (units: bigint): string => formatAmount(units, USD_DECIMALS);

/** What an agent’s record makes of it. */
function createStanding({ record }: BuiltInDeps) {
  async function standing({ userId, agentId }: Member) {
    const { paid, payees } = await record(userId, agentId);
    const score = Math.min(MAX, START + paid);
    const found = TIERS.find(({ from }) => score >= from) ?? TIERS[TIERS.length - 1]!;
    return { score, ...found, paid, payees };
  }

  async function fitness(member: Member) {
    const { score, tier, paid, payees } = await standing(member);
    // Where the score comes from: what every agent starts with, calls paid, and different payees among them.
    const details = { prediction: START, execution: Math.min(MAX - START, paid), coordination: Math.min(MAX, payees) };
    return { score, tier, details };
  }

  return { standing, fitness };
}

function createPayers({ wallets }: BuiltInDeps) {
  /** The agent's wallets first, then its owner's. */
  async function payers({ userId, agentId }: Member): Promise<Account[]> {
    const [agents, own] = await Promise.all([wallets.list({ userId, agentId }), wallets.list({ userId })]);
    return [...agents, ...own].map(({ address }) => walletAccount(address));
  }

  return payers;
}

/** The payment gateway of the platform itself: an agent's record decides its tier, the ledger pays. */
export function createBuiltInColony(deps: BuiltInDeps): Colony {
  const { db, ledger, clock, payouts, offers } = deps;
  const { standing, fitness } = createStanding(deps);
  const payers = createPayers(deps);

  return {
    gateway: 'built-in',
    health: async () => ({ status: 'ok', timestamp: iso(clock()) }),
    async join({ userId, agentId }, walletAddress) {
      await joinColony(db.user(userId), { userId, agentId }, walletAddress, clock());
      return { success: true, agentId, walletAddress, fitness: await fitness({ userId, agentId }) };
    },
    fitness,
    async pricing(member) {
      const { score, tier, discount } = await standing(member);
      const rate = usd((RATE * BigInt(100 - discount)) / 100n);
      return { agentId: member.agentId, tier, pricing: { rate, discount }, fitness: { score, tier } };
    },
    endpoints: async () => ({
      endpoints: offers.map(({ slug, price }) => ({ slug, description: ABOUT[slug] ?? slug, price: usd(price) })),
    }),
    async pay(member, payment) {
      const from = await payers(member);
      const to = await payouts.payee(payment.recipient);
      const isOwed = to.id.startsWith('owed:');
      await db
        .asSystem(async (tx) => {
          if (!CURRENCIES.has(payment.currency)) throw new AppError(400, 'Unsupported currency');
          if (!(await markPaid(tx, payment.id, clock()))) throw new Error('the payment is not pending any more');
          await ledger.open(tx, [...from, to]);
          const parts = await ledger.spread(
            tx,
            from.map(({ id }) => id),
            payment.units,
            [to.id],
          );
          await ledger.post(tx, {
            key: `agent-payment:${payment.id}`,
            kind: 'agent-payment',
            entries: [
              ...parts.map(({ account, amount }) => ({ account, amount: -amount })),
              { account: to.id, amount: payment.units },
            ],
            meta: { agent: member.agentId, recipient: payment.recipient },
          });
          if (isOwed) await payouts.owe(tx, { id: payment.id, address: payment.recipient, units: payment.units });
        })
        .catch((error: unknown) => {
          // The transaction is undone: nothing has moved.
          throw error instanceof AppError ? new PaymentProblem('failed', error) : error;
        });
      return { settlement: isOwed ? 'owed' : 'credited' };
    },
    close: async () => {},
  };
}
