import pg from 'pg';
import type { Client, Connection, Submittable } from 'pg';
import { serialize } from 'pg-protocol';
import pgUtils from 'pg/lib/utils.js';
import { randomHex } from '@troupe/kernel';
import { emptyRow, rowOf, takeRows, type Column, type Row } from './rows.ts';
import { valueParser } from './values.ts';

/**
 * Several statements and one Sync: one round trip, one implicit transaction (unless the first is a BEGIN).
 * An error in one skips the rest. The rows of one are kept: the last unless said.
 */

export interface Statement {
  text: string;
  values: readonly unknown[];
}

export interface PipelineResult {
  command: string;
  rowCount: number | null;
  rows: Row[];
}

/** What each row is: its columns, and one that has nothing in them. */
type Shape = { columns: Column[]; empty: Row };
type Prepared = {
  name: string;
  shape?: Shape;
  /** How it is asked for, where it takes no values: written once. */
  bound?: Buffer;
  usedAt: number;
};
type StatementCache = {
  id: string;
  /** By the scope, and then by the text. */
  byScope: Map<string, Map<string, Prepared>>;
  count: number;
  toClose: string[];
};
type Step = {
  scope: string | null;
  text: string;
  prepared: Prepared;
  fresh: boolean;
  wire: (string | Buffer | null)[];
};

/** A backend keeps the plan of each: more would cost memory on every connection. */
const PREPARED_PER_CONNECTION = 100;
const KEPT_OF_THEM = 90;
/** The next one replaces it. */
const UNNAMED = '';

const NO_SHAPE: Shape = { columns: [], empty: {} };

const caches = new WeakMap<Connection, StatementCache>();

/**
 * `scope` keeps the plans of different roles apart: one plan used by two roles is planned anew at each change. Null:
 * nothing is kept on the connection.
 */
export async function runPipeline(
  client: Client,
  scope: string | null,
  statements: Statement[],
  kept = statements.length - 1,
): Promise<PipelineResult> {
  return (await runAll(client, scope, statements, kept, 1))[0]!;
}

/** The same, of which the results of so many are kept, beginning with `kept`. */
export function runAll(
  client: Client,
  scope: string | null,
  statements: Statement[],
  kept: number,
  count: number,
): Promise<PipelineResult[]> {
  return new Promise((resolve, reject) => {
    client.query(new Pipeline({ scope, statements, kept, count, resolve, reject }) as unknown as Submittable);
  });
}

interface Order {
  scope: string | null;
  statements: Statement[];
  kept: number;
  count: number;
  resolve: (results: PipelineResult[]) => void;
  reject: (error: Error) => void;
}

/** One of them, on its way through a connection. */
class Pipeline {
  readonly #order: Order;
  readonly #results: PipelineResult[] = [];
  #steps: Step[] = [];
  /** Statements that are over. */
  #completed = 0;
  /** Of the statement that is under way, if its result is kept. */
  #result: PipelineResult | undefined;
  #shape: Shape = NO_SHAPE;
  #parseError: Error | undefined;

  constructor(order: Order) {
    this.#order = order;
  }

  submit(connection: Connection): Error | undefined {
    if (!(connection.stream as { writable: boolean }).writable) return new Error('The database connection is closed');
    const { scope, statements, kept, count } = this.#order;
    const cache = cacheOf(connection);
    try {
      // Every value is converted before the first byte leaves, so a bad one sends nothing.
      this.#steps = statements.map((statement) => takeStep(cache, scope, statement));
    } catch (error) {
      return error as Error;
    }
    this.#begin();
    takeRows(connection, (bytes, at, end) => this.#take(bytes, at, end));
    send(connection, cache, this.#steps, kept, count);
  }

  /** The next statement's turn to answer. */
  #begin(): void {
    const { kept, count } = this.#order;
    const isKept = this.#completed >= kept && this.#completed < kept + count;
    this.#result = isKept ? { command: '', rowCount: null, rows: [] } : undefined;
    if (!this.#result) return;
    this.#results.push(this.#result);
    this.#shape = this.#steps[this.#completed]?.prepared.shape ?? NO_SHAPE;
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    const columns = fields.map((field) => ({ name: field.name, parse: valueParser(field.dataTypeID) }));
    this.#shape = { columns, empty: emptyRow(columns) };
  }

  #take(bytes: Buffer, at: number, end: number): void {
    if (!this.#result || this.#parseError) return;
    try {
      this.#result.rows.push(rowOf(this.#shape.columns, this.#shape.empty, bytes, at, end));
    } catch (error) {
      this.#parseError = error as Error;
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    if (this.#result) {
      const words = text.split(' ');
      const count = Number(words.at(-1));
      this.#result.command = words[0] ?? '';
      this.#result.rowCount = Number.isInteger(count) && words.length > 1 ? count : null;
    }
    this.#over();
  }

  #over(): void {
    const prepared = this.#result && this.#steps[this.#completed]?.prepared;
    if (prepared) prepared.shape ??= this.#shape;
    this.#completed += 1;
    this.#begin();
  }

  /** Only here is the implicit transaction committed: a deferred constraint can still fail before it. */
  handleReadyForQuery(connection: Connection): void {
    takeRows(connection, undefined);
    remember(cacheOf(connection), this.#steps);
    if (this.#parseError) this.#order.reject(this.#parseError);
    else this.#order.resolve(this.#results);
  }

  handleError(error: Error, connection: Connection): void {
    takeRows(connection, undefined);
    forget(cacheOf(connection), this.#steps, error);
    onceReady(connection, error, () => this.#order.reject(error));
  }

  handleEmptyQuery(): void {
    this.#over();
  }

  handlePortalSuspended(): void {}

  handleCopyInResponse(connection: Connection & { sendCopyFail: (why: string) => void }): void {
    connection.sendCopyFail('COPY is not supported here');
  }

  handleCopyData(): void {}
}

/** Until the server is ready again, nobody knows whether the connection is still inside a transaction. */
function onceReady(connection: Connection, error: Error, then: () => void): void {
  if (!(error instanceof pg.DatabaseError) || isFatal(error)) return then();
  const settle = () => {
    connection.off('readyForQuery', settle).off('end', settle);
    then();
  };
  connection.once('readyForQuery', settle).once('end', settle);
}

/** The server closes the connection after it. */
export const isFatal = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && (error.severity === 'FATAL' || error.severity === 'PANIC');

/** Names are this connection's alone: behind a pooler several meet in one, and must never run each other's. */
function cacheOf(connection: Connection): StatementCache {
  let cache = caches.get(connection);
  if (!cache) caches.set(connection, (cache = { id: randomHex(4), byScope: new Map(), count: 0, toClose: [] }));
  return cache;
}

function takeStep(cache: StatementCache, scope: string | null, { text, values }: Statement): Step {
  const wire = values.map((value) => pgUtils.prepareValue(value));
  // When it was used is a number: a map whose order says it would be changed with every query, and rebuilt again and again.
  cache.count += 1;
  const known = scope === null ? undefined : cache.byScope.get(scope)?.get(text);
  if (known) {
    known.usedAt = cache.count;
    return { scope, text, wire, prepared: known, fresh: false };
  }
  const name = scope === null ? UNNAMED : `p${cache.id}${cache.count}`;
  return { scope, text, wire, prepared: { name, usedAt: cache.count }, fresh: true };
}

function bindTo(prepared: Prepared, values: Step['wire']): Buffer {
  if (values.length > 0) return serialize.bind({ statement: prepared.name, values });
  // Copied: what is written is a part of something larger.
  return (prepared.bound ??= Buffer.from(serialize.bind({ statement: prepared.name, values })));
}

/** As one piece: the server wakes once, and many small ones cost more than copying them. */
function send(connection: Connection, cache: StatementCache, steps: Step[], kept: number, count: number): void {
  const pieces: Buffer[] = [];
  for (const name of cache.toClose.splice(0)) pieces.push(serialize.close({ type: 'S', name }));
  for (let index = 0; index < steps.length; index += 1) {
    const { prepared, text, wire, fresh } = steps[index]!;
    if (fresh) pieces.push(serialize.parse({ name: prepared.name, text, types: [] }));
    pieces.push(bindTo(prepared, wire));
    if (index >= kept && index < kept + count && !prepared.shape)
      pieces.push(serialize.describe({ type: 'P', name: '' }));
    pieces.push(serialize.execute());
  }
  pieces.push(serialize.sync());
  connection.stream.write(Buffer.concat(pieces));
}

function remember(cache: StatementCache, steps: Step[]): void {
  let added = false;
  for (const { scope, text, prepared, fresh } of steps) {
    if (!fresh || scope === null) continue;
    const own = cache.byScope.get(scope) ?? new Map<string, Prepared>();
    // The same text twice in one pipeline.
    const twin = own.get(text);
    if (twin) cache.toClose.push(twin.name);
    cache.byScope.set(scope, own.set(text, prepared));
    added = true;
  }
  if (added) dropOldest(cache);
}

/** Those that were not used for longest, several at once: to find them is to look at all. */
function dropOldest(cache: StatementCache): void {
  const all = [...cache.byScope.values()].flatMap((own) =>
    [...own].map(([text, prepared]) => ({ own, text, prepared })),
  );
  if (all.length <= PREPARED_PER_CONNECTION) return;
  const oldest = all.toSorted((a, b) => a.prepared.usedAt - b.prepared.usedAt);
  for (const { own, text, prepared } of oldest.slice(0, all.length - KEPT_OF_THEM)) {
    own.delete(text);
    cache.toClose.push(prepared.name);
  }
}

/** Which of the new statements the server did keep is unknown: closing a missing one is no error. */
function forget(cache: StatementCache, steps: Step[], error: Error): void {
  const all = isStalePlan(error);
  for (const { scope, text, prepared, fresh } of steps) {
    if ((!fresh && !all) || scope === null) continue;
    cache.byScope.get(scope)?.delete(text);
    cache.toClose.push(prepared.name);
  }
}

/** The table changed shape under a prepared statement, or a pooler gave us another backend. Nothing was executed. */
export function isStalePlan(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return error.code === '26000' || (error.code === '0A000' && error.message.includes('cached plan'));
}
