import type { CompiledQuery } from 'kysely';
import type { SystemTx, UserTx } from './scopes.ts';

/**
 * A query that is the same each time, with no value of a call in it: put together at its first use. For what is asked again and
 * again: to build and write a query takes as long as to send it.
 */
export function compiled<Tx extends UserTx | SystemTx, Row>(
  build: (tx: Tx) => { compile: () => CompiledQuery<Row> },
): (tx: Tx) => Promise<Row[]> {
  let query: CompiledQuery<Row> | undefined;
  return async (tx) => (await tx.executeQuery((query ??= build(tx).compile()))).rows;
}
