import { ChainUnavailable, voucherSigned, type Address, type Hex, type Verifier } from '@troupe/chain';
import type { Database, SystemTx } from '@troupe/db';
import { formatAmount, parseAmount } from '@troupe/domain';
import { AppError, randomHex, type Clock } from '@troupe/kernel';
import {
  INSUFFICIENT_BALANCE,
  playAccount,
  PLAY_SOURCE,
  USD_DECIMALS,
  walletAccount,
  type Ledger,
} from '@troupe/ledger';
import type { OwnsAddress, WalletCaller } from '../wallet-access.ts';
import type { Settlements } from './settlements.ts';
import * as store from './store.ts';
import type { NewVoucher, PaymentSession } from './store.ts';

interface SessionDeps {
  db: Database;
  ledger: Ledger;
  clock: Clock;
  settlements: Settlements;
  verifier: Verifier;
  chainId: number;
  ownsAddress: OwnsAddress;
  funding: 'required' | 'sandbox';
  /** The loopback rule holds: who asks for a session is not asked for a proof. */
  open: boolean;
  /** Price of a plugin; null when there is none of that name. */
  priceOf: (plugin: string) => bigint | null;
}

export interface VoucherRequest {
  sessionId: string;
  userAddress: string;
  plugin: string;
  amount?: string | number | undefined;
  nonce: string;
  signature: string;
}

/** Part of the transaction that holds a voucher. */
type AfterHold = (tx: SystemTx, voucherId: bigint) => Promise<void>;

export type PaymentSessions = ReturnType<typeof createPaymentSessions>;

const MIN_DEPOSIT = 1_000_000n;
const MAX_DEPOSIT = 100_000_000n;
const SETTLE_AT = 5_000_000n;

/** The code of a session that is not there or takes no vouchers any more. */
export const SESSION_OVER = 'SESSION_OVER';

const unknown = () => new AppError(404, 'Session not found', {}, { code: SESSION_OVER });
const insufficient = () => new AppError(400, 'Insufficient balance', {}, { code: INSUFFICIENT_BALANCE });
const usd = (units: bigint): string => formatAmount(units, USD_DECIMALS);
const lower = (address: string): string => address.toLowerCase();

/** What is known of a session, and to whom it is told. */
function createReading({ db, ownsAddress }: SessionDeps) {
  async function shown(session: PaymentSession) {
    const vouchers = await store.vouchers(db.system, session.id);
    return {
      id: session.id,
      userAddress: session.userAddress,
      deposit: usd(session.deposit),
      spent: usd(session.spent),
      remaining: usd(session.deposit - session.spent),
      vouchers: vouchers.map(({ plugin, units, at }) => ({ plugin, timestamp: at.getTime(), amount: usd(units) })),
      status: session.status,
      createdAt: session.createdAt.getTime(),
      lastSettledAt: session.lastSettledAt.getTime(),
      ...(session.sandbox ? { sandbox: true as const } : {}),
    };
  }

  async function found(sessionId: string): Promise<PaymentSession> {
    const session = await store.find(db.system, sessionId);
    if (session === null) throw unknown();
    return session;
  }

  async function mustOwn(caller: WalletCaller, address: string): Promise<void> {
    if (!(await ownsAddress(caller, address))) throw new AppError(401, 'Unauthorized');
  }

  return { shown, found, mustOwn };
}

function createOpening({ db, ledger, clock }: SessionDeps) {
  /** The address's session, or a new one with the deposit held. */
  const opened = (userAddress: string, deposit: bigint, sandbox: boolean) =>
    db.asSystem(async (tx) => {
      const address = lower(userAddress);
      await store.takeTurn(tx, address);
      const existing = await store.open(tx, address);
      if (existing !== null) return { session: existing, isNew: false };
      const id = `ses_${randomHex(12)}`;
      const account = sandbox ? playAccount(address) : walletAccount(address);
      await ledger.open(tx, sandbox ? [PLAY_SOURCE, account] : [account]);
      if (sandbox)
        await ledger.post(tx, {
          key: `session-play:${id}`,
          kind: 'play-money',
          entries: [
            { account: PLAY_SOURCE.id, amount: -deposit },
            { account: account.id, amount: deposit },
          ],
        });
      const hold = await ledger.hold(tx, { key: `session:${id}`, account: account.id, amount: deposit });
      const session = { id, address, userAddress, sandbox, accountId: account.id, holdId: hold.id, deposit };
      return { session: await store.add(tx, session, clock()), isNew: true };
    });

  return opened;
}

/** Opens sessions and counts their vouchers. */
function createTaking(deps: SessionDeps) {
  const { db, clock, settlements, verifier, chainId } = deps;
  const opened = createOpening(deps);

  /** Why a session does not take a voucher. */
  function refusal({ status, closing }: PaymentSession): AppError {
    return closing ? new AppError(400, `Session is ${status}`, {}, { code: SESSION_OVER }) : insufficient();
  }

  /** Counts a voucher whose signature is good. `held`: its plugin has yet to answer. */
  const take = (voucher: NewVoucher, status: 'held' | 'pending', then?: AfterHold) =>
    db.asSystem(async (tx) => {
      const voucherId = await store.addVoucher(tx, voucher, status, clock());
      if (voucherId === null) throw new AppError(400, 'Nonce already used');
      const { sessionId, units } = voucher;
      const session = await store.spend(tx, sessionId, units, status === 'held' ? 0n : units);
      if (session === null) {
        const now = await store.lock(tx, sessionId);
        throw now === null ? unknown() : refusal(now);
      }
      if (session.pending >= SETTLE_AT) await settlements.settle(tx, session);
      await then?.(tx, voucherId);
      return { voucherId, session, pendingVouchers: await store.countPending(tx, sessionId) };
    });

  async function checkVoucher(session: PaymentSession, voucher: NewVoucher): Promise<void> {
    if (session.closing) throw refusal(session);
    const { sessionId, plugin, units, nonce, signature } = voucher;
    const signed = await voucherSigned(verifier, {
      voucher: { sessionId, plugin, amount: units, nonce: nonce as Hex },
      chainId,
      by: session.address as Address,
      signature,
    }).catch((error: unknown) => {
      if (!(error instanceof ChainUnavailable)) throw error;
      throw new AppError(503, 'Verification unavailable', {}, { cause: error });
    });
    if (!signed) throw new AppError(401, 'Invalid signature');
    // Beyond what the database can count, too.
    if (units > session.deposit) throw insufficient();
  }

  return { opened, take, checkVoucher };
}

/** Vouchers whose plugin has yet to answer. */
function holding({ db, settlements }: SessionDeps, { checkVoucher, take }: ReturnType<typeof createTaking>) {
  return {
    /** Sets a voucher aside while its plugin works; then `confirm` or `refund` it. */
    async hold(session: PaymentSession, voucher: NewVoucher, then: AfterHold) {
      await checkVoucher(session, voucher);
      const taken = await take(voucher, 'held', then);
      return { voucherId: taken.voucherId, remaining: usd(taken.session.deposit - taken.session.spent) };
    },

    confirm: (voucherId: bigint): Promise<void> =>
      db.asSystem(async (tx) => {
        const { session_id: id, units } = await store.findVoucher(tx, voucherId);
        const session = await store.lock(tx, id);
        if (session === null || !(await store.resolveVoucher(tx, voucherId, 'pending'))) return;
        const now = await store.update(tx, id, { pending: session.pending + units });
        if (now.closing || now.pending >= SETTLE_AT) await settlements.settle(tx, now);
        if (now.closing) await settlements.conclude(tx, id);
      }),

    /** The money is back in the session; does nothing to one that was confirmed. */
    refund: (voucherId: bigint): Promise<void> =>
      db.asSystem(async (tx) => {
        const { session_id: id, units } = await store.findVoucher(tx, voucherId);
        const session = await store.lock(tx, id);
        if (session === null || !(await store.resolveVoucher(tx, voucherId, 'refunded'))) return;
        await store.update(tx, id, { spent: session.spent - units });
        if (session.closing) await settlements.conclude(tx, id);
      }),
  };
}

/** How a session ends. */
function closing(deps: SessionDeps, { found, mustOwn }: ReturnType<typeof createReading>) {
  const { db, settlements } = deps;
  return {
    /** Closing again answers the same, and returns nothing twice. */
    async close(caller: WalletCaller, sessionId: string) {
      const { address } = await found(sessionId);
      if (!deps.open) await mustOwn(caller, address);
      const { session, underWay } = await db.asSystem(async (tx) => {
        await store.takeTurn(tx, address);
        const locked = await store.lock(tx, sessionId);
        if (locked === null) throw unknown();
        if (locked.closing) return { session: locked, underWay: null };
        const settlement = await settlements.settle(tx, locked);
        await settlements.giveBack(tx, locked, await store.heldUnits(tx, sessionId));
        await store.update(tx, sessionId, { closing: true, status: 'settling' });
        await settlements.conclude(tx, sessionId);
        return { session: locked, underWay: settlement };
      });
      if (underWay !== null) await settlements.hurry(underWay);
      return {
        success: true as const,
        returned: usd(session.deposit - session.spent),
        settled: usd(session.spent),
      };
    },
  };
}

export function createPaymentSessions(deps: SessionDeps) {
  const { db, funding, priceOf } = deps;
  const reading = createReading(deps);
  const { shown, found, mustOwn } = reading;

  const taking = createTaking(deps);
  const { opened, take, checkVoucher } = taking;

  return {
    async open(caller: WalletCaller, address: string, given: string | number) {
      const deposit = depositOf(given);
      if (funding === 'required') await mustOwn(caller, address);
      const { session, isNew } = await opened(address, deposit, false).catch((error: unknown) => {
        if (funding === 'sandbox' && error instanceof AppError && error.code === INSUFFICIENT_BALANCE)
          return opened(address, deposit, true);
        throw error;
      });
      return { session: await shown(session), isNew };
    },

    async get(caller: WalletCaller, sessionId: string) {
      const session = await found(sessionId);
      if (!deps.open) await mustOwn(caller, session.address);
      return shown(session);
    },

    async list(caller: WalletCaller, address: string) {
      if (!deps.open) await mustOwn(caller, address);
      return Promise.all((await store.list(db.system, lower(address))).map(shown));
    },

    async spend(request: VoucherRequest) {
      const { sessionId, plugin, nonce, signature } = request;
      const units = voucherUnits(request, priceOf);
      const session = await found(sessionId);
      if (lower(request.userAddress) !== session.address) throw new AppError(400, 'Address mismatch');
      const voucher = { sessionId, plugin, units, nonce, signature };
      await checkVoucher(session, voucher);
      const taken = await take(voucher, 'pending');
      return {
        success: true as const,
        session: {
          id: sessionId,
          spent: usd(taken.session.spent),
          remaining: usd(taken.session.deposit - taken.session.spent),
          pendingVouchers: taken.pendingVouchers,
        },
        voucher: { amount: usd(units), plugin, nonce },
      };
    },

    ...closing(deps, reading),
    find: (id: string) => store.find(db.system, id),

    ...holding(deps, taking),
  };
}

const PLAIN = /^-?\d{1,30}(\.\d{1,6})?$/;

function depositOf(given: string | number): bigint {
  const text = typeof given === 'number' && Number.isFinite(given) ? plain(given) : String(given);
  if (!PLAIN.test(text)) throw new AppError(400, 'Invalid deposit');
  const units = text.startsWith('-') ? 0n : parseAmount(text, USD_DECIMALS);
  if (units === null || units < MIN_DEPOSIT) throw new AppError(400, 'Minimum deposit is $1.00');
  if (units > MAX_DEPOSIT) throw new AppError(400, 'Maximum deposit is $100.00');
  return units;
}

/** A number in plain digits: large and small ones print with an exponent. */
const plain = (number: number): string => {
  const text = String(number);
  return text.includes('e') ? (number > 1 ? '1000000' : '0') : text;
};

function voucherUnits({ amount, plugin }: VoucherRequest, priceOf: SessionDeps['priceOf']): bigint {
  if (amount === undefined) {
    const price = priceOf(plugin);
    if (price === null) throw new AppError(400, 'Missing amount');
    return price;
  }
  const units = parseAmount(String(amount), USD_DECIMALS);
  if (units === null || units <= 0n) throw new AppError(400, 'Invalid amount');
  return units;
}
