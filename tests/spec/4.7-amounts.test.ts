import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { signVoucher } from '@troupe/chain';
import { newId, randomHex } from '@troupe/kernel';
import { verifyLedger } from '@troupe/ledger';
import { cardEnv, startCardProcessor } from '@troupe/testing/money/card-processor';
import { fund } from '@troupe/testing/money/fund';
import { person, send, type Reply } from '@troupe/testing/services/people';
import { startServices } from '@troupe/testing/services/services';

/** Every place where an amount or an address comes in, with everything that is none. */

const processor = await startCardProcessor();
const services = await startServices(cardEnv(processor.address));
const { runtime } = services;
after(async () => {
  await services.stop();
  processor.close();
});

const ada = await person(services, { plan: 'label' });
const agentId = newId();
await runtime.db.system
  .insertInto('agents')
  .values({ id: agentId, user_id: ada.id, name: 'Ada', status: 'running' })
  .execute();
const other = newId();
await runtime.db.system
  .insertInto('agents')
  .values({ id: other, user_id: ada.id, name: 'Bob', status: 'running' })
  .execute();
const owner = privateKeyToAccount(generatePrivateKey());
const wallet = (await ada.ask('POST', '/api/wallet', { action: 'create' })).body.address as string;
const agentWallet = (await ada.ask('POST', '/api/underground/wallets', { agentId })).body.address as string;
for (const address of [wallet, agentWallet]) await fund(runtime.db, address, 500_000_000n);
const session = (await ada.ask('POST', '/api/wallet/sessions', { address: owner.address, deposit: '50' })).body.session;
const event = {
  agentId,
  name: 'Night',
  description: 'A night',
  venue: 'Cellar',
  eventDate: '2030-01-01',
  ticketPriceUsdc: '1',
  totalTickets: 10,
};
const { id: eventId } = (await ada.ask('POST', '/api/underground/events', event)).body;
const PAYEE = owner.address;

async function bus(action: string, payload: object): Promise<Reply> {
  const message = {
    version: '1.0',
    messageId: newId(),
    timestamp: new Date().toISOString(),
    from: { agentId },
    to: { agentId: other },
    action,
    payload,
  };
  const signed = await ada.ask('POST', '/api/underground/bus/sign', { message });
  return signed.status === 200 ? ada.ask('POST', '/api/underground/bus/send', signed.body.message) : signed;
}

async function voucher(amount: unknown): Promise<Reply> {
  const nonce = `0x${randomHex(32)}` as const;
  const signed = { sessionId: session.id as string, plugin: 'agent', amount: 1_000_000n, nonce };
  const signature = await signVoucher(owner, signed, 4217);
  const body = { sessionId: session.id, plugin: 'agent', amount, nonce, signature, userAddress: owner.address };
  return ada.ask('POST', '/api/wallet/sessions/voucher', body);
}

async function gatewayVoucher(amount: unknown): Promise<Reply> {
  const nonce = `0x${randomHex(32)}` as const;
  const signed = { sessionId: session.id as string, plugin: 'agent', amount: 50_000n, nonce };
  const signature = await signVoucher(owner, signed, 4217);
  const header = Buffer.from(JSON.stringify({ amount, nonce, signature })).toString('base64url');
  const headers = { 'x-session-id': session.id as string, 'x-payment-voucher': header };
  return send(`${services.web}/api/v1/gateway`, 'POST', { prompt: 'hi' }, headers);
}

/** The ledger's last transaction and all that is held: the same as before when nothing has moved. */
async function books(): Promise<unknown> {
  const db = runtime.db.system;
  const last = await db
    .selectFrom('ledger_transactions')
    .select((eb) => eb.fn.max('id').as('last'))
    .execute();
  const held = await db
    .selectFrom('ledger_accounts')
    .select((eb) => eb.fn.sum('held').as('held'))
    .execute();
  return [last, held];
}

const WORDS = ['NaN', 'Infinity', '-Infinity', '1e21', '0.0000001', '1,5', ' 1', '1 ', '1 000', '', '0x1', '１'];
const NUMBERS = [-1, 1e21, 0.0000001];
const LIMIT = 'A limit is an amount in US dollars with at most 6 decimals, or null';
const HUNDRED = 'Amount exceeds $100 limit. Contact support for higher limits.';

interface Entry {
  ask: (amount: unknown) => Promise<Reply>;
  /** For all amounts that are not in `says`. */
  error: string;
  /** Other words for some; null: it is a good amount here. */
  says?: [unknown, string | null][];
  status?: number;
}

const ENTRIES: Record<string, Entry> = {
  'top-up': {
    ask: (amount) => ada.ask('GET', `/api/wallet/top-up?address=${PAYEE}&amount=${encodeURIComponent(String(amount))}`),
    error: 'Invalid amount. Choose: 500, 1000, 2500, 5000 (cents)',
  },
  'session deposit': {
    ask: (deposit) => ada.ask('POST', '/api/wallet/sessions', { address: PAYEE, deposit }),
    error: 'Invalid deposit',
    says: [
      ['', 'Missing address or deposit'],
      [null, 'Missing address or deposit'],
      ...[-1, 0, '0', '-1', 0.0000001].map((few): [unknown, string] => [few, 'Minimum deposit is $1.00']),
      ...[1e21, 100.01].map((many): [unknown, string] => [many, 'Maximum deposit is $100.00']),
    ],
  },
  voucher: { ask: voucher, error: 'Invalid amount', says: [[100.01, 'Invalid signature']] },
  'voucher in a header': { ask: gatewayVoucher, error: 'voucher_required', status: 402 },
  'payment of an agent': {
    ask: (amount) => ada.ask('POST', '/api/paygate', { action: 'pay', agentId, amount, recipient: PAYEE }),
    error: 'Invalid amount',
    says: [
      [1e21, HUNDRED],
      [100.01, HUNDRED],
    ],
  },
  'limit of an agent': {
    ask: (perDay) => ada.ask('PUT', `/api/agents/${other}/payment-policy`, { perDay }),
    error: LIMIT,
    says: [
      ['0', null],
      [null, null],
    ],
  },
  'ticket price': {
    ask: (ticketPriceUsdc) => ada.ask('POST', '/api/underground/events', { ...event, ticketPriceUsdc }),
    error: 'Invalid ticketPriceUsdc',
    says: [['0', null]],
  },
  split: {
    ask: (totalAmount) => {
      const recipients = [{ address: PAYEE, share: 100 }];
      return ada.ask('POST', '/api/underground/splits', { agentId, name: 'x', totalAmount, recipients });
    },
    error: 'Invalid totalAmount',
  },
  'share of a split': {
    ask: (share) => {
      const recipients = [{ address: PAYEE, share }];
      return ada.ask('POST', '/api/underground/splits', { agentId, name: 'x', totalAmount: '1', recipients });
    },
    error: 'Invalid share',
  },
  'booking offer': {
    ask: (amount) => bus('BOOKING_OFFER', { talentName: 'x', amount }),
    error: 'Invalid amount',
    says: [[100.01, null]],
  },
  'reward of an amplification': {
    ask: (reward) => bus('AMPLIFY_REQUEST', { content: 'x', reward }),
    error: 'Invalid reward',
    says: [
      [0, null],
      ['0', null],
      [100.01, null],
    ],
  },
};

describe('amounts that are none are refused everywhere, and nothing moves', () => {
  for (const [name, { ask, error, says = [], status }] of Object.entries(ENTRIES))
    test(name, async () => {
      const before = await books();
      for (const amount of [...WORDS, '-1', '0', ...NUMBERS, 0, 100.01, null, [], {}]) {
        const [, special] = says.find(([value]) => value === amount) ?? [];
        if (special === null) continue;
        const answer = await ask(amount);
        const wanted = special ?? error;
        const expected = status ?? (wanted === 'Invalid signature' ? 401 : 400);
        assert.deepEqual([answer.status, answer.body.error], [expected, wanted], `${name} ${JSON.stringify(amount)}`);
      }
      assert.deepEqual(await books(), before);
    });

  test('quantities and numbers of tickets', async () => {
    const before = await books();
    for (const quantity of [...WORDS, ...NUMBERS, 0, 1.5, 1001, null, '2']) {
      const answer = await ada.ask('POST', `/api/underground/events/${eventId}/tickets`, { agentId, quantity });
      assert.equal(answer.status, 400, JSON.stringify(quantity));
      const announced = await ada.ask('POST', '/api/underground/events', {
        ...event,
        totalTickets: quantity === 1001 ? 1e10 : quantity,
      });
      assert.equal(announced.status, 400, JSON.stringify(quantity));
    }
    assert.deepEqual(await books(), before);
  });
});

const flip = (address: string): string => {
  const at = address.slice(2).search(/[a-f]/i) + 2;
  const digit = address[at]!;
  const flipped = digit === digit.toLowerCase() ? digit.toUpperCase() : digit.toLowerCase();
  return address.slice(0, at) + flipped + address.slice(at + 1);
};
const SOLANA = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV';
const NONE = [
  PAYEE.slice(0, -1),
  `${PAYEE}0`,
  // never by chance an address of another chain, which has no noughts
  `${PAYEE.slice(2, -1)}0`,
  `0X${PAYEE.slice(2)}`,
  `${PAYEE.slice(0, 9)} ${PAYEE.slice(9)}`,
  'vitalik.eth',
  '0x',
];
const TYPO = flip(PAYEE);

interface AddressEntry {
  ask: (address: string) => Promise<Reply>;
  error: string;
  /** Where money goes to, a wrong checksum is a typo; elsewhere only the digits count. */
  strict?: true;
  solana?: true;
}

const ADDRESSES: Record<string, AddressEntry> = {
  'payment of an agent': {
    ask: (recipient) => ada.ask('POST', '/api/paygate', { action: 'pay', agentId, amount: 1, recipient }),
    error: 'Invalid recipient address',
    strict: true,
    solana: true,
  },
  'joining the colony': {
    ask: (walletAddress) => ada.ask('POST', '/api/paygate', { action: 'join-colony', agentId, walletAddress }),
    error: 'Invalid address',
    strict: true,
    solana: true,
  },
  'payees of an agent': {
    ask: (payee) => ada.ask('PUT', `/api/agents/${other}/payment-policy`, { payees: [payee] }),
    error: 'payees must be a list of at most 100 addresses, or null',
    strict: true,
    solana: true,
  },
  split: {
    ask: (address) => {
      const recipients = [{ address, share: 100 }];
      return ada.ask('POST', '/api/underground/splits', { agentId, name: 'x', totalAmount: '1', recipients });
    },
    error: 'Invalid recipient address',
    strict: true,
  },
  'top-up': {
    ask: (address) => ada.ask('GET', `/api/wallet/top-up?amount=500&address=${encodeURIComponent(address)}`),
    error: 'Valid wallet address required',
  },
  session: {
    ask: (address) => ada.ask('POST', '/api/wallet/sessions', { address, deposit: '1' }),
    error: 'Invalid address',
  },
  sessions: {
    ask: (address) => ada.ask('GET', `/api/wallet/sessions?address=${encodeURIComponent(address)}`),
    error: 'Invalid address',
  },
  balance: {
    ask: (address) => ada.ask('GET', `/api/wallet?address=${encodeURIComponent(address)}`),
    error: 'Invalid address',
  },
  transactions: {
    ask: (address) => ada.ask('GET', `/api/wallet/transactions?address=${encodeURIComponent(address)}`),
    error: 'Invalid address',
  },
  ledger: {
    ask: (address) => ada.ask('GET', `/api/wallet/ledger?address=${encodeURIComponent(address)}`),
    error: 'Invalid address',
  },
  'wallet of an agent': {
    ask: (address) => ada.ask('POST', '/api/underground/wallets', { agentId, address, proof: '0x00' }),
    error: 'Invalid address',
  },
  'balance of an agent’s wallet': {
    ask: (address) => ada.ask('GET', `/api/underground/wallets/${encodeURIComponent(address)}/balance`),
    error: 'Invalid address',
  },
};

describe('addresses that are none are refused everywhere', () => {
  for (const [name, { ask, error, strict, solana }] of Object.entries(ADDRESSES))
    test(name, async () => {
      const bad = [...NONE, ...(strict ? [TYPO] : []), ...(solana ? [`${SOLANA}0`] : [SOLANA])];
      for (const address of bad) {
        const { status, body } = await ask(address);
        assert.deepEqual([status, body.error], [400, error], address);
      }
      for (const address of [...(strict ? [] : [TYPO]), PAYEE.toLowerCase(), ...(solana ? [SOLANA] : [])])
        assert.notEqual((await ask(address)).body.error, error, address);
    });
});

test('and the books are right', async () => {
  const verdicts = await verifyLedger(runtime.db.system);
  assert.deepEqual(
    verdicts.filter(({ broken }) => broken.length > 0),
    [],
  );
});
