import pg from 'pg';
import type { Client, Connection, Submittable } from 'pg';
import { serialize } from 'pg-protocol';
import pgUtils from 'pg/lib/utils.js';
import { randomHex } from '@troupe/kernel';
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
  rows: Record<string, unknown>[];
}

type Column = { name: string; parse: (text: string) => unknown };
type Prepared = { name: string; columns?: Column[]; usedAt: number };
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

const caches = new WeakMap<Connection, StatementCache>();

/**
 * `scope` keeps the plans of different roles apart: one plan used by two roles is planned anew at each change. Null:
 * nothing is kept on the connection.
 */
export function runPipeline(
  client: Client,
  scope: string | null,
  statements: Statement[],
  kept = statements.length - 1,
): Promise<PipelineResult> {
  return new Promise((resolve, reject) => {
    client.query(new Pipeline(scope, statements, kept, resolve, reject) as unknown as Submittable);
  });
}

/** One of them, on its way through a connection. */
class Pipeline {
  readonly #scope: string | null;
  readonly #statements: Statement[];
  readonly #kept: number;
  readonly #resolve: (result: PipelineResult) => void;
  readonly #reject: (error: Error) => void;
  readonly #result: PipelineResult = { command: '', rowCount: null, rows: [] };
  #steps: Step[] = [];
  #completed = 0;
  #columns: Column[] = [];
  #parseError: Error | undefined;

  constructor(
    scope: string | null,
    statements: Statement[],
    kept: number,
    resolve: (result: PipelineResult) => void,
    reject: (error: Error) => void,
  ) {
    this.#scope = scope;
    this.#statements = statements;
    this.#kept = kept;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  submit(connection: Connection): Error | undefined {
    if (!(connection.stream as { writable: boolean }).writable) return new Error('The database connection is closed');
    const cache = cacheOf(connection);
    try {
      // Every value is converted before the first byte leaves, so a bad one sends nothing.
      this.#steps = this.#statements.map((statement) => takeStep(cache, this.#scope, statement));
    } catch (error) {
      return error as Error;
    }
    this.#columns = this.#steps[this.#kept]?.prepared.columns ?? [];
    send(connection, cache, this.#steps, this.#kept);
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    this.#columns = fields.map((field) => ({ name: field.name, parse: valueParser(field.dataTypeID) }));
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    if (this.#completed !== this.#kept || this.#parseError) return;
    try {
      this.#result.rows.push(toRow(this.#columns, fields));
    } catch (error) {
      this.#parseError = error as Error;
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#completed += 1;
    if (this.#completed !== this.#kept + 1) return;
    const words = text.split(' ');
    const count = Number(words.at(-1));
    this.#result.command = words[0] ?? '';
    this.#result.rowCount = Number.isInteger(count) && words.length > 1 ? count : null;
  }

  /** Only here is the implicit transaction committed: a deferred constraint can still fail before it. */
  handleReadyForQuery(connection: Connection): void {
    remember(cacheOf(connection), this.#steps, this.#kept, this.#columns);
    if (this.#parseError) this.#reject(this.#parseError);
    else this.#resolve(this.#result);
  }

  handleError(error: Error, connection: Connection): void {
    forget(cacheOf(connection), this.#steps, error);
    onceReady(connection, error, () => this.#reject(error));
  }

  handleEmptyQuery(): void {
    this.#completed += 1;
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

/** As one piece: the server wakes once, and many small ones cost more than copying them. */
function send(connection: Connection, cache: StatementCache, steps: Step[], kept: number): void {
  const pieces: Buffer[] = [];
  for (const name of cache.toClose.splice(0)) pieces.push(serialize.close({ type: 'S', name }));
  for (let index = 0; index < steps.length; index += 1) {
    const { prepared, text, wire, fresh } = steps[index]!;
    if (fresh) pieces.push(serialize.parse({ name: prepared.name, text, types: [] }));
    pieces.push(serialize.bind({ statement: prepared.name, values: wire }));
    if (index === kept && !prepared.columns) pieces.push(serialize.describe({ type: 'P', name: '' }));
    pieces.push(serialize.execute());
  }
  pieces.push(serialize.sync());
  connection.stream.write(Buffer.concat(pieces));
}

function remember(cache: StatementCache, steps: Step[], kept: number, columns: Column[]): void {
  const target = steps[kept]?.prepared;
  if (target) target.columns ??= columns;
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

function toRow(columns: Column[], fields: (string | null)[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (let index = 0; index < columns.length; index += 1) {
    const { name, parse } = columns[index]!;
    const value = fields[index];
    row[name] = value === null || value === undefined ? null : parse(value);
  }
  return row;
}
