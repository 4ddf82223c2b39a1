import type { CompiledQuery } from 'kysely';
import type { Statement } from './pipeline.ts';
import { runList, type SystemTx, type UserTx } from './scopes.ts';

/**
 * A list that is the same query each time, with no value of a call in it: put together at its first use. For what is asked again and
 * again: to build and write a query takes as long as to send it. Those that a user asks for at once travel together (together.ts),
 * so it is to be short, and to read alone.
 */
export function compiled<Tx extends UserTx | SystemTx, Row>(
  build: (tx: Tx) => { compile: () => CompiledQuery<Row> },
): (tx: Tx) => Promise<Row[]> {
  let ready: Statement | undefined;
  return async (tx) => {
    if (!ready) {
      const { sql, parameters } = build(tx).compile();
      if (!sql.startsWith('select ')) throw new Error('Only what reads can be compiled');
      ready = { text: sql, values: parameters };
    }
    return (await runList(tx, ready)).rows as Row[];
  };
}
