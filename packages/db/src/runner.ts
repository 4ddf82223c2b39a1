import { DefaultQueryExecutor, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely';
import type { PipelineResult, Statement } from './pipeline.ts';
import type { Tables } from './tables.gen.ts';

/** Kysely over whatever runs its queries. */

export type Role = 'svc_user' | 'svc_system';
/** Runs what stands before and after the query in the same round trip. */
export type Run = (query: Statement, before?: Statement[], after?: Statement[]) => Promise<PipelineResult>;

/** How to run a statement in the transaction of a tx, for what stands beside Kysely. */
const RUNNER = Symbol('runner');

export interface Runner {
  run: Run;
  role: Role;
  /** Of those whose every query is a transaction of its own: throws where a query could not be one. */
  refuse?: () => void;
  /** Of these, for lists that may travel with others of the same user. */
  list?: (query: Statement) => Promise<PipelineResult>;
}

/** Undefined: it is no tx of ours, or something was put around it. */
export const runnerOf = (tx: object): Runner | undefined => (tx as { [RUNNER]?: Runner })[RUNNER];

/** The stack of a socket's callback says nothing; this one leads to whoever waits for the query. */
export async function fromHere(error: unknown): Promise<never> {
  if (error instanceof Error) Error.captureStackTrace(error);
  throw error;
}

const refuse = async () => {
  throw new Error('Use asUser or asSystem for a transaction');
};

/** Nothing is opened by it: a scope is given with each query. */
const driver: Driver = {
  init: async () => {},
  acquireConnection: refuse,
  releaseConnection: async () => {},
  destroy: async () => {},
  beginTransaction: refuse,
  commitTransaction: refuse,
  rollbackTransaction: refuse,
};

const adapter = new PostgresAdapter();
const compiler = new PostgresQueryCompiler();
const dialect: Dialect = {
  createAdapter: () => adapter,
  createDriver: () => driver,
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => compiler,
};

const config = { dialect };

/** Made with every scope, so its parts are shared: they are most of what a short query would cost. */
export function kyselyOver(runner: Runner): Kysely<Tables> {
  const { run } = runner;
  const connection: DatabaseConnection = {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      const { command, rowCount, rows } = await run({ text: sql, values: parameters }).catch(fromHere);
      if (rowCount === null || command === 'SELECT') return { rows: rows as R[] };
      return { rows: rows as R[], numAffectedRows: BigInt(rowCount) };
    },
    streamQuery() {
      throw new Error('Streaming is not supported: read in pages');
    },
  };
  const executor = new DefaultQueryExecutor(compiler, adapter, {
    provideConnection: (consumer) => consumer(connection),
  });
  const kysely = new Kysely<Tables>({ config, dialect, driver, executor });
  return Object.assign(kysely, { [RUNNER]: runner });
}
