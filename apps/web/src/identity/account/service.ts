import { Readable } from 'node:stream';
import type { Accounts } from '@troupe/accounts';
import { CLOSING_REFUSALS, backend as onBackend, eraseAccountJob, GRACE_DAYS } from '@troupe/contract';
import type { Database, Jobs, SystemTx } from '@troupe/db';
import { creditsOf, formatAmount } from '@troupe/domain';
import {
  AppError,
  createFairQueue,
  createReadTurns,
  iso,
  isoOrNull,
  tar,
  type BackendClient,
  type Clock,
  type User,
} from '@troupe/kernel';
import { USD_DECIMALS, walletAccount, type Ledger } from '@troupe/ledger';
import type { MailRoom } from '../../platform/mail.ts';
import { createArchive } from './archive.ts';
import { agentsOf, endCredentials, erase, holdUser, readClosing, setEraseAt, walletsOf } from './store.ts';

interface AccountDeps {
  db: Database;
  accounts: Accounts;
  ledger: Ledger;
  backend: BackendClient;
  jobs: Jobs;
  mail: MailRoom;
  clock: Clock;
  baseUrl: string;
}

const DAY_MS = 86_400_000;
/** Of all users together: each reads tables and files for minutes. Those that wait have their turns piece by piece. */
const EXPORTS_AT_ONCE = 2;
const EXPORTS_WAITING = 1000;
const CLOSED = 'Stopped: the account was closed.';

const usd = (units: bigint): string => formatAmount(units, USD_DECIMALS);

export type AccountService = ReturnType<typeof createAccount>;

export function createAccount(deps: AccountDeps) {
  return { ...createClosing(deps), ...createExports(deps) };
}

function defineMail({ mail, baseUrl }: AccountDeps): void {
  mail.define('account-closed', async ({ email, day }: { email: string; day: string }) => ({
    to: email,
    subject: 'Your account is closed',
    text: `Hello,\n\nyour account was closed and will be erased on ${day}. Until then you can sign in, take your data with you, or keep the account:\n\n${baseUrl}/dashboard/settings?tab=account\n\nIf it was not you, sign in, keep it, and change your password at once.\n`,
    link: `${baseUrl}/dashboard/settings?tab=account`,
  }));
  mail.define('account-erased', async ({ email }: { email: string }) => ({
    to: email,
    subject: 'Your account was erased',
    text: `Hello,\n\nyour account and everything in it was erased. What was paid and used stays in the books, under no name.\n`,
  }));
}

function createMoney({ ledger }: AccountDeps) {
  return async (tx: SystemTx, userId: string) => {
    const addresses = await walletsOf(tx, userId);
    const idOf = ({ address }: { address: string }) => walletAccount(address).id;
    const balance = await ledger.balances(tx, addresses.map(idOf));
    return addresses.map((wallet) => ({ ...wallet, ...balance(idOf(wallet)) }));
  };
}

/** What the account has, and what stands in the way of closing it. */
function createLook(deps: AccountDeps) {
  const moneyOf = createMoney(deps);
  return async (tx: SystemTx, userId: string) => {
    const row = await readClosing(tx, userId);
    if (!row) throw new AppError(401, 'Unauthorized');
    const wallets = await moneyOf(tx, userId);
    const busy = wallets.some(({ held }) => held > 0n);
    const refusal = row.subscribed ? 'subscription' : busy ? 'payment' : row.only_admin ? 'administrator' : null;
    return { row, wallets, refusal: refusal as keyof typeof CLOSING_REFUSALS | null };
  };
}

function createClosing(deps: AccountDeps) {
  const { db, accounts, jobs, mail, clock } = deps;
  const { confirmation, sessions, verification, halt, audit } = accounts;
  defineMail(deps);
  jobs.work(eraseAccountJob, ({ userId }) => eraseAccount(deps, userId), { concurrency: 1 });

  const look = createLook(deps);
  const reading = createReadTurns();

  return {
    async get({ id }: User) {
      const { row, wallets, refusal } = await reading(id, () => look(db.system, id));
      return {
        eraseAt: isoOrNull(row.erase_at),
        graceDays: GRACE_DAYS,
        agents: Number(row.agents),
        tasks: Number(row.tasks),
        keys: Number(row.keys),
        credits: creditsOf(row.credit_micros),
        wallets: wallets.map(({ address, balance }) => ({ address, balance: usd(balance) })),
        refusal,
      };
    },

    /** From now on nothing of it acts, and nobody is in it; whoever signs in again can take it back. */
    close: (user: User, giveUpMoney: boolean, ip: string): Promise<string> =>
      db.asSystem(async (tx) => {
        const held = await holdUser(tx, user.id);
        if (!held) throw new AppError(401, 'Unauthorized');
        await confirmation.require(tx, user);
        if (held.erase_at) throw new AppError(409, 'This account is closed already');
        const { wallets, refusal } = await look(tx, user.id);
        if (refusal) throw new AppError(409, CLOSING_REFUSALS[refusal], { code: 'CLOSING_REFUSED' });
        const left = wallets.reduce((sum, { balance }) => sum + balance, 0n);
        if (left > 0n && !giveUpMoney)
          throw new AppError(409, `Your wallets have ${usd(left)} USD here: send it away first, or give it up`);
        const eraseAt = new Date(clock().getTime() + GRACE_DAYS * DAY_MS);
        await setEraseAt(tx, user.id, eraseAt);
        await halt(tx, user.id, CLOSED);
        await endCredentials(tx, user.id);
        await sessions.endAll(tx, user.id);
        await verification.forget(tx, user.id);
        await jobs.send(tx, eraseAccountJob, { userId: user.id }, { startAfter: eraseAt });
        await audit(tx, { userId: user.id, action: 'account-closed', detail: { givenUp: usd(left) }, ip });
        await mail.post(tx, 'account-closed', { email: held.email, name: held.name, day: iso(eraseAt).slice(0, 10) });
        return iso(eraseAt);
      }),

    keep: (user: User, ip: string): Promise<void> =>
      db.asSystem(async (tx) => {
        const held = await holdUser(tx, user.id);
        if (!held?.erase_at) throw new AppError(409, 'This account is not closed');
        await setEraseAt(tx, user.id, null);
        await audit(tx, { userId: user.id, action: 'account-kept', ip });
      }),
  };
}

/** Agents first, by who runs them: containers, channels and files go with them. Begins again where it broke off. */
async function eraseAccount({ db, accounts, backend, mail, clock }: AccountDeps, userId: string): Promise<void> {
  const isDue = (row: { erase_at: Date | null } | undefined) => row?.erase_at && row.erase_at <= clock();
  const user = await accounts.users.byId(db.system, userId);
  if (!user || !isDue(await readClosing(db.system, userId))) return;
  const client = backend.as(accounts.toUser(user, null), '127.0.0.1');
  for (const id of await agentsOf(db.system, userId)) await client.call(onBackend.agents.remove, { params: { id } });
  await db.asSystem(async (tx) => {
    const held = await holdUser(tx, userId);
    if (!held || !isDue(held)) return;
    await accounts.audit(tx, { userId, action: 'account-erased' });
    await mail.post(tx, 'account-erased', { email: held.email, name: held.name });
    await erase(tx, userId);
  });
}

function createExports(deps: AccountDeps) {
  const { db, accounts } = deps;
  const archive = createArchive(deps);
  const running = new Set<string>();
  const turns = createFairQueue({ width: EXPORTS_AT_ONCE, waiting: EXPORTS_WAITING, waitingPerKey: 1 });

  /** A place is had for each piece anew: who reads slowly, or not at all, has none. Whoever goes away ends it. */
  async function* pieces(user: User, address: string, signal: AbortSignal): AsyncGenerator<Buffer> {
    const reading = tar(archive({ user, address, signal }))[Symbol.asyncIterator]();
    try {
      for (;;) {
        const piece = await turns.run(user.id, () => reading.next(), signal);
        if (piece.done) return;
        yield piece.value;
      }
    } finally {
      running.delete(user.id);
      await reading.return?.(undefined);
    }
  }

  return {
    async export(user: User, address: string, signal: AbortSignal): Promise<Readable> {
      await accounts.confirmation.require(db.system, user);
      if (running.has(user.id)) throw new AppError(429, 'An export of yours is under way');
      running.add(user.id);
      const stream = Readable.from(pieces(user, address, signal), { objectMode: false });
      // One that nobody began to read never runs its own end.
      stream.once('close', () => running.delete(user.id));
      return stream;
    },
  };
}
