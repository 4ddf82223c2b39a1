import pg from 'pg';
import { isFatal, type PipelineResult, type Statement } from './pipeline.ts';

/**
 * Lists that one user asks for in one turn of the event loop travel together: one round trip, one scope, one transaction. A
 * page asks for many things at once, and what surrounds a short query costs more than the query. Nobody waits for anybody
 * else's: who waits for a list waits for others of the same user, and only for those that came with it. It is not kernel's
 * `inBatches`, and why is in ADR 156.
 */

/** Of one user in one round trip; more are further round trips, on connections of their own. */
const MOST = 8;

/** Runs them in their order; nothing was done when it fails. */
type Run = (whose: string, queries: readonly Statement[]) => Promise<PipelineResult[]>;

interface Waiting {
  query: Statement;
  resolve: (result: PipelineResult) => void;
  reject: (error: unknown) => void;
}

export function createTogether(run: Run): (whose: string, query: Statement) => Promise<PipelineResult> {
  let waiting = new Map<string, Waiting[]>();

  async function carry(whose: string, some: readonly Waiting[]): Promise<void> {
    try {
      const results = await run(
        whose,
        some.map(({ query }) => query),
      );
      for (let n = 0; n < some.length; n += 1) some[n]!.resolve(results[n]!);
    } catch (error) {
      // Of several that the server refused one is to blame: each is asked for by itself, and hears what is said of it.
      const isOfOne = some.length > 1 && error instanceof pg.DatabaseError && !isFatal(error);
      for (const one of some) {
        if (isOfOne) void carry(whose, [one]);
        else one.reject(error);
      }
    }
  }

  function leave(): void {
    const all = waiting;
    waiting = new Map();
    for (const [whose, own] of all)
      for (let from = 0; from < own.length; from += MOST) void carry(whose, own.slice(from, from + MOST));
  }

  return (whose, query) =>
    new Promise((resolve, reject) => {
      if (waiting.size === 0) setImmediate(leave);
      const own = waiting.get(whose);
      if (own) own.push({ query, resolve, reject });
      else waiting.set(whose, [{ query, resolve, reject }]);
    });
}
