import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import pg from 'pg';
import { answerable, BROKEN_AT, BROKEN_BEFORE, databaseAway, type Log } from '@troupe/kernel';
import { ConnectionTurns } from './connection-turns.ts';
import { Connections, isAlive } from './connections.ts';
import { BrokenConnection } from './errors.ts';
import { isFatal, isStalePlan, runAll, runPipeline } from './pipeline.ts';
import type { PipelineResult, Statement } from './pipeline.ts';
import { connectionTo } from './primary.ts';
import { fromHere, kyselyOver, runnerOf, type Role, type Run, type Runner } from './runner.ts';
import type { Tables } from './tables.gen.ts';
import { createTogether } from './together.ts';

declare const scope: unique symbol;

/** Queries as one user: row-level security shows and takes only that user's rows. */
export type UserTx = Kysely<Tables> & { readonly [scope]: 'user' };
/** Queries as the system: every row of every user. */
export type SystemTx = Kysely<Tables> & { readonly [scope]: 'system' };

export interface TxOptions {
  /** Anything but the default is tried again, work included, when the server says that it collided. */
  isolation?: 'repeatable read' | 'serializable';
}

export interface PoolStats {
  total: number;
  idle: number;
  waiting: number;
  max: number;
}

export interface Database {
  /** A transaction as that user: committed when `work` returns, rolled back when it throws. */
  asUser: <T>(userId: string, work: (tx: UserTx) => Promise<T>, options?: TxOptions) => Promise<T>;
  asSystem: <T>(work: (tx: SystemTx) => Promise<T>, options?: TxOptions) => Promise<T>;
  /** For single queries: each `execute()` is a transaction of its own, in one round trip. */
  user: (userId: string) => UserTx;
  readonly system: SystemTx;
  stats: () => PoolStats;
  /** Rejects when the server does not answer. */
  ping: () => Promise<void>;
  /** Whether it answers soon. */
  answers: () => Promise<boolean>;
  close: () => Promise<void>;
}

export interface DatabaseOptions {
  url: string;
  log: Log;
  poolSize?: number;
  statementTimeoutMs?: number;
  /** A pooler stands between, which may give each transaction another connection to the server. */
  pooled?: boolean;
  /** Whether statements are kept on the connection by name. */
  prepared?: boolean;
}

/** The connections, and what has to be said on each anew. */
type Line = {
  connections: Connections;
  turns: ConnectionTurns;
  max: number;
  prepared: boolean;
  bounds: [statementMs: string, idleMs: string] | undefined;
};
type Scope = { role: Role; userId: string };
type Transaction = { open: boolean };

const CONNECT_RETRY_MS: readonly number[] = [50, 100, 200, 400, 800];
const COLLISION_TRIES = 6;

const setRole = (role: string): Statement => ({ text: "select set_config('role', $1, true)", values: [role] });

const PRELUDE = "select set_config('role', $1, true), set_config('app.user_id', $2, true)";
const BOUNDS =
  ", set_config('statement_timeout', $3, true), set_config('idle_in_transaction_session_timeout', $4, true)";

const prelude = ({ bounds }: Line, { role, userId }: Scope): Statement => ({
  text: bounds ? PRELUDE + BOUNDS : PRELUDE,
  values: [role, userId, ...(bounds ?? [])],
});

const IDLE_IN_TRANSACTION_MS = 60_000;
const SOON_MS = 2_000;
const CONNECT_MS = 10_000;
/** An idle backend costs the server memory, a new one takes a few milliseconds. */
const IDLE_MS = 3_000;

function openLine(options: DatabaseOptions): Line {
  const { url, log, poolSize = 10, statementTimeoutMs = 30_000, pooled = false, prepared = true } = options;
  const to: pg.ClientConfig = {
    ...connectionTo(url),
    connectionTimeoutMillis: CONNECT_MS,
    // A pooler takes no such bounds when a connection is opened: they are said in each transaction.
    ...(!pooled && {
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    }),
    application_name: 'troupe',
  };
  const bounds: Line['bounds'] = pooled ? [String(statementTimeoutMs), String(IDLE_IN_TRANSACTION_MS)] : undefined;
  return {
    connections: new Connections(to, IDLE_MS, log),
    turns: new ConnectionTurns(poolSize, CONNECT_MS),
    max: poolSize,
    prepared,
    bounds,
  };
}

/** Whose turn it is has one connection, which is taken or opened. */
async function inTurn<T>(
  { turns, connections }: Line,
  whose: string,
  work: (client: pg.Client) => Promise<T>,
  waits = CONNECT_RETRY_MS,
): Promise<T> {
  const turn = turns.take(whose);
  if (turn) await turn;
  try {
    return await work(connections.take() ?? (await open(connections, waits)));
  } finally {
    turns.leave();
  }
}

/** Queries that are transactions of their own, in one round trip each; lists of one user that are asked for at once in one. */
function createSingles(line: Line, refuse: () => void): (scope: Scope) => Kysely<Tables> {
  const send = (scope: Scope, statements: Statement[], kept: number, count = 1) =>
    inTurn(line, scope.userId, (client) => runSingle(line, client, scope, statements, kept, count));
  const together = createTogether((userId, queries) => {
    const scope: Scope = { role: 'svc_user', userId };
    return send(scope, [prelude(line, scope), ...queries], 1, queries.length);
  });
  return (scope) => {
    const run: Run = async (query, before = [], after = []) => {
      refuse();
      const [result] = await send(scope, [prelude(line, scope), ...before, query, ...after], 1 + before.length);
      return result!;
    };
    const list = async (query: Statement): Promise<PipelineResult> => {
      refuse();
      return together(scope.userId, query);
    };
    return kyselyOver({ run, role: scope.role, refuse, ...(scope.role === 'svc_user' && { list }) });
  };
}

export function createDatabase(options: DatabaseOptions): Database {
  const line = openLine(options);
  const { connections, turns, max } = line;
  const current = new AsyncLocalStorage<Transaction>();

  const refuseNested = () => {
    if (current.getStore()?.open) throw new Error('A transaction is already open here: pass its tx on');
  };
  const single = createSingles(line, refuseNested);
  const transact = async <T>(scope: Scope, work: (tx: Kysely<Tables>) => Promise<T>, options: TxOptions) => {
    refuseNested();
    for (let tries = 1; ; tries += 1) {
      try {
        return await inTurn(line, scope.userId, (client) =>
          runTransaction({ line, client, current, scope }, work, options),
        );
      } catch (error) {
        if (!options.isolation || !isCollision(error) || tries >= COLLISION_TRIES) throw error;
        await delay(Math.random() * 10 * 2 ** tries);
      }
    }
  };
  const userScope = (userId: string): Scope => {
    if (!userId) throw new Error('A user scope needs a user id');
    return { role: 'svc_user', userId };
  };
  const ping = async (): Promise<void> => {
    await inTurn(line, 'ping', (client) => runSingle(line, client, systemScope, [PING], 0), []);
  };
  const systemScope: Scope = { role: 'svc_system', userId: '' };

  return {
    asUser: async (userId, work, options = {}) => transact(userScope(userId), (tx) => work(tx as UserTx), options),
    asSystem: async (work, options = {}) => transact(systemScope, (tx) => work(tx as SystemTx), options),
    user: (userId) => single(userScope(userId)) as UserTx,
    system: single(systemScope) as SystemTx,
    stats: () => ({ total: connections.total, idle: connections.idle, waiting: turns.waiting, max }),
    ping,
    answers: () => {
      const answered = ping().then(
        () => true,
        () => false,
      );
      return Promise.race([answered, delay(SOON_MS, false, { ref: false })]);
    },
    close: () => connections.end(),
  };
}

/**
 * Whether each query of it is a transaction of its own, which may be carried with others of the same tx. Throws where such
 * a query is refused because a transaction is open: who carries it later would not know.
 */
export function isSingle(tx: UserTx | SystemTx): boolean {
  const { refuse } = runnerOf(tx) ?? {};
  refuse?.();
  return refuse !== undefined;
}

function knownRunner(tx: UserTx | SystemTx): Runner {
  const runner = runnerOf(tx);
  if (!runner) throw new Error('This needs the tx itself, as asUser, asSystem, user or system gave it');
  return runner;
}

/** A list that is ready to be asked for: what Kysely does around a query takes as long as to send it. */
export function runList(tx: UserTx | SystemTx, query: Statement): Promise<PipelineResult> {
  const { list, run } = knownRunner(tx);
  return (list ?? run)(query).catch(fromHere);
}

/** In that tx, but as the login role: for the tables of the job queue, which belong to it. */
export function runAsLogin(tx: UserTx | SystemTx, query: Statement): Promise<PipelineResult> {
  const runner = knownRunner(tx);
  return runner.run(query, [setRole('none')], [setRole(runner.role)]);
}

const PING: Statement = { text: 'select 1', values: [] };

async function runSingle(
  line: Line,
  client: pg.Client,
  { role }: Scope,
  statements: Statement[],
  kept: number,
  count = 1,
): Promise<PipelineResult[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      const results = await runAll(client, line.prepared ? role : null, statements, kept, count);
      release(line, client);
      return results;
    } catch (error) {
      // It means that nothing was done; more than once would hide a real fault.
      if (tries === 1 && isStalePlan(error) && isAlive(client)) continue;
      const told = isBroken(client, error) ? new BrokenConnection(BROKEN_AT, error) : error;
      release(line, client, error);
      throw told;
    }
  }
}

interface Place {
  line: Line;
  client: pg.Client;
  current: AsyncLocalStorage<Transaction>;
  scope: Scope;
}

async function runTransaction<T>(
  { line, client, current, scope }: Place,
  work: (tx: Kysely<Tables>) => Promise<T>,
  { isolation }: TxOptions,
): Promise<T> {
  const transaction: Transaction = { open: true };
  const begin: Statement = { text: isolation ? `begin isolation level ${isolation}` : 'begin', values: [] };
  let begun = false;
  let broken: unknown[] | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  const noteBreak = (error: unknown): void => {
    if (isBroken(client, error)) (broken ??= []).push(error);
  };

  // BEGIN and the scope travel with the first query. Queries issued in parallel run in their order.
  const run: Run = (query, before = [], after = []) => {
    const turn = queue.then(() => {
      if (!transaction.open) throw new Error('The transaction of this tx has ended');
      const first = [...(begun ? [] : [begin, prelude(line, scope)]), ...before];
      begun = true;
      return runPipeline(client, line.prepared ? scope.role : null, [...first, query, ...after], first.length);
    });
    queue = turn.catch(noteBreak);
    return turn;
  };

  try {
    const value = await current.run(transaction, () => work(kyselyOver({ run, role: scope.role })));
    await queue;
    transaction.open = false;
    if (begun) await commit(client);
    release(line, client);
    return value;
  } catch (error) {
    await queue;
    transaction.open = false;
    await rollback(line, client, error);
    throw broken?.includes(error) ? new BrokenConnection(BROKEN_BEFORE, error) : error;
  }
}

/** A caught error leaves the transaction aborted, and the server answers COMMIT with a quiet ROLLBACK. */
async function commit(client: pg.Client): Promise<void> {
  const { command } = await client.query('commit').catch((error: unknown) => {
    throw isBroken(client, error) ? new BrokenConnection(BROKEN_AT, error) : error;
  });
  if (command !== 'COMMIT') throw new Error('The transaction was rolled back, because a query in it had failed');
}

async function rollback(line: Line, client: pg.Client, cause: unknown): Promise<void> {
  try {
    if (inTransaction(client)) await client.query('rollback');
    release(line, client, cause);
  } catch {
    // The connection is broken: the server rolls back by itself, and `cause` is what the caller hears.
    line.connections.drop(client);
  }
}

/** Others may use a connection only when it is alive and outside of any transaction. */
function release({ connections }: Line, client: pg.Client, error?: unknown): void {
  if (isFatal(error) || error instanceof BrokenConnection || !isAlive(client) || inTransaction(client))
    connections.drop(client);
  else connections.give(client);
}

/** The connection ended under it, and the server did not say why in a word that has an answer. */
const isBroken = (client: pg.Client, error: unknown): boolean =>
  answerable(error) === undefined && (isFatal(error) || (!isAlive(client) && !(error instanceof pg.DatabaseError)));

function inTransaction(client: pg.Client): boolean {
  const status = client.getTransactionStatus();
  return status === 'T' || status === 'E';
}

/** Serialization failure, deadlock. */
const isCollision = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && (error.code === '40001' || error.code === '40P01');

/** Nothing has been sent yet, so a server that is just restarting is waited for. */
async function open(connections: Connections, waits: readonly number[]): Promise<pg.Client> {
  const [wait, ...later] = waits;
  try {
    return await connections.open();
  } catch (error) {
    if (wait === undefined || !isRestarting(error)) throw databaseAway(error);
  }
  await delay(wait);
  return open(connections, later);
}

function isRestarting(error: unknown): boolean {
  const code = (error as { code?: string }).code;
  // Socket refused or missing, shutting down, starting up.
  return code !== undefined && ['ECONNREFUSED', 'ENOENT', 'ECONNRESET', '57P01', '57P03'].includes(code);
}
