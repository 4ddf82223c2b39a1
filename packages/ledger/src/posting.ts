import { isRefused, isSingle, type SystemTx } from '@troupe/db';
import { AppError, inBatches, sha256Hex, type Clock } from '@troupe/kernel';
import { CompiledQuery, sql, type RawBuilder } from 'kysely';

/** How money moves: in the caller's transaction, or with all that others post at the same moment. */

export interface Entry {
  account: string;
  /** Positive: into the account. */
  amount: bigint;
}

export interface Posting {
  /** The same key and request answer as the first time; the same key with another request is an error. */
  key: string;
  kind: string;
  entries: readonly Entry[];
  meta?: Record<string, unknown>;
}

export interface Done {
  id: bigint;
  /** It had happened before; nothing was done now. */
  replayed: boolean;
}

/** The code of whatever is refused because there is not enough money. */
export const INSUFFICIENT_BALANCE = 'INSUFFICIENT_BALANCE';

export const insufficient = (cause?: unknown) =>
  new AppError(402, 'Insufficient balance', {}, { cause, code: INSUFFICIENT_BALANCE });

const otherRequest = (cause?: unknown) =>
  new AppError(409, 'Idempotency key was used for another request', {}, { cause });

const OVERDRAFT = 'ledger_no_overdraft';
const OTHER_REQUEST = 'LG002';

/** A refusal of the database, as callers know it. */
export function refused(error: unknown): unknown {
  const { code, constraint } = error as { code?: string; constraint?: string };
  if (constraint === OVERDRAFT) return insufficient(error);
  return code === OTHER_REQUEST ? otherRequest(error) : error;
}

/** As the database takes it: each account once, and only what moves. */
interface Request {
  key: string;
  hash: string;
  kind: string;
  /** As JSON; null: nothing. */
  meta: string | null;
  accounts: string[];
  amounts: bigint[];
}

function requestOf({ key, kind, entries, meta }: Posting): Request {
  if (entries.length < 2) throw new Error('a posting needs at least two entries');
  const moves = JSON.stringify(entries.map(({ account, amount }) => ({ account, amount: String(amount) })));
  const sums = new Map<string, bigint>();
  for (const { account, amount } of entries) sums.set(account, (sums.get(account) ?? 0n) + amount);
  const moved = [...sums].filter(([, amount]) => amount !== 0n);
  return {
    key,
    hash: sha256Hex(JSON.stringify([kind, moves])),
    kind,
    meta: meta === undefined ? null : JSON.stringify(meta),
    accounts: moved.map(([account]) => account),
    amounts: moved.map(([, amount]) => amount),
  };
}

const argumentsOf = ({ key, hash, kind, meta, accounts, amounts }: Request, at: Date): RawBuilder<unknown> =>
  sql`${key}, ${hash}, ${kind}, ${meta ?? '{}'}, ${accounts}::text[], ${amounts}::bigint[], ${at}`;

interface Row {
  done: bigint;
  replayed: boolean;
}

async function answered(query: Promise<{ rows: Row[] }>): Promise<Done> {
  try {
    const { done, replayed } = (await query).rows[0]!;
    return { id: done, replayed };
  } catch (error) {
    throw refused(error);
  }
}

/** What one transaction carries at most: it holds all of their accounts until it is durable. */
const MOST_TOGETHER = 64;
const WIDEST_TOGETHER = 16;

type Said = 'new' | 'replayed' | 'other' | 'short' | 'alone';

interface Carried {
  done: bigint;
  said: Said;
}

/** As text: to build it anew each time costs as much as some of the postings. */
const POST_ALL = `select done, said from ledger_post_all($1::text[], $2::text[], $3::text[], $4::text[], $5::int[],
  $6::text[], $7::int[], $8::bigint[], $9)`;

async function postAll(tx: SystemTx, given: readonly Request[], at: Date): Promise<Carried[]> {
  const places = new Map<string, number>();
  const entries = given.flatMap(({ accounts }) => accounts);
  for (const account of entries) if (!places.has(account)) places.set(account, places.size + 1);
  let end = 0;
  const ends = given.map(({ accounts }) => (end += accounts.length));
  const columns = [
    given.map(({ key }) => key),
    given.map(({ hash }) => hash),
    given.map(({ kind }) => kind),
    given.map(({ meta }) => meta),
    ends,
    [...places.keys()],
    entries.map((account) => places.get(account)),
    given.flatMap(({ amounts }) => amounts),
  ];
  const { rows } = await tx.executeQuery<Carried>(CompiledQuery.raw(POST_ALL, [...columns, at]));
  return rows;
}

type Post = (request: Request) => Promise<Done>;

/**
 * One after the other as long as there is company: what comes in while a transaction is under way is carried by the next.
 * What is refused, and what could not be carried, is posted by itself, and nobody waits for it.
 */
function createCarrier(tx: SystemTx, clock: Clock): Post {
  /** Of postings that are by themselves: whoever moves the same joins them, because one that is held would hold up all. */
  const apart = new Map<string, number>();
  const leave = (account: string) => {
    const left = (apart.get(account) ?? 0) - 1;
    if (left > 0) apart.set(account, left);
    else apart.delete(account);
  };
  const alone = async (request: Request): Promise<Done> => {
    for (const account of request.accounts) apart.set(account, (apart.get(account) ?? 0) + 1);
    try {
      return await answered(
        sql<Row>`select done, replayed from ledger_post(${argumentsOf(request, clock())})`.execute(tx),
      );
    } finally {
      request.accounts.forEach(leave);
    }
  };
  const carry = async (given: Request[]): Promise<Promise<Done>[]> => {
    try {
      const rows = await postAll(tx, given, clock());
      return given.map((request, n) => outcome(rows[n]!, () => alone(request)));
    } catch (error) {
      if (!isRefused(error)) throw error;
      return given.map(alone);
    }
  };
  const together = inBatches<Request, Promise<Done>>(carry, { keyOf: ({ key }) => key, atMost: MOST_TOGETHER });
  return async (request) => {
    const { accounts } = request;
    const fits = accounts.length >= 2 && accounts.length <= WIDEST_TOGETHER && !accounts.some((one) => apart.has(one));
    return fits ? together(request) : alone(request);
  };
}

async function outcome({ done, said }: Carried, alone: () => Promise<Done>): Promise<Done> {
  if (said === 'short') throw insufficient();
  if (said === 'other') throw otherRequest();
  return said === 'alone' ? alone() : { id: done, replayed: said === 'replayed' };
}

/** How an amount of a hold is taken out of it and moved. */
export const capture = (tx: SystemTx, holdId: bigint, amount: bigint, posting: Posting, at: Date): Promise<Done> =>
  answered(
    sql<Row>`select done, replayed from ledger_capture(${holdId}, ${amount}, ${argumentsOf(requestOf(posting), at)})`.execute(
      tx,
    ),
  );

/** A tx whose queries are transactions of their own carries what is posted at once; any other is the caller's. */
export function createPost(clock: Clock): (tx: SystemTx, posting: Posting) => Promise<Done> {
  const carriers = new WeakMap<SystemTx, Post>();
  return async (tx, posting) => {
    const request = requestOf(posting);
    if (!isSingle(tx))
      return answered(sql<Row>`select done, replayed from ledger_post(${argumentsOf(request, clock())})`.execute(tx));
    let carrier = carriers.get(tx);
    if (!carrier) carriers.set(tx, (carrier = createCarrier(tx, clock)));
    return carrier(request);
  };
}
