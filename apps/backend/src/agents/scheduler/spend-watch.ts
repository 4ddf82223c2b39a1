import { raiseNotice } from '@troupe/accounts';
import type { Database } from '@troupe/db';
import type { Clock } from '@troupe/kernel';
import { sql } from 'kysely';

const NEAR = 0.8;
const USD = 1_000_000;

interface Near {
  user_id: string;
  scope: 'user' | 'agent' | 'run';
  subject: string;
  agent: string | null;
  used: bigint;
  limit_micros: bigint;
}

const WHOSE = { user: 'your agents', agent: 'the agent', run: 'a run' } as const;

/** Tells owners, once in each window, that a spend cap is nearly used up. Called again and again. */
export const createSpendWatch =
  ({ db, clock }: { db: Database; clock: Clock }) =>
  (): Promise<void> =>
    db.asSystem(async (tx) => {
      const { rows } = await sql<Near>`
        select near.*, agent.name as agent from (
          select cap.user_id, cap.scope, cap.limit_micros, counter.used, counter.scope_id,
            cap.scope || ':' || counter.scope_id || ':' || iso_text(counter.since) as subject
          from spend_caps cap join spend_counters counter on counter.user_id = cap.user_id and counter.scope = cap.scope
            and cap.scope_id in (counter.scope_id, '*') and counter.since = spend_since(cap.period, ${clock()})
          where cap.limit_micros > 0 and counter.used >= cap.limit_micros * ${NEAR}::numeric
        ) near left join agents agent on agent.id = near.scope_id
        where not exists (select from notices where notices.user_id = near.user_id and kind = 'spend_cap_near' and notices.subject = near.subject)
        limit 100`.execute(tx);
      for (const { user_id, scope, subject, agent, used, limit_micros } of rows) {
        const spent = `${(Number(used) / USD).toFixed(2)} of ${(Number(limit_micros) / USD).toFixed(2)} USD`;
        const message = `The spend cap of ${WHOSE[scope]}${agent ? ` ${agent}` : ''} is nearly used up: ${spent}`;
        await raiseNotice(
          tx,
          { userId: user_id, kind: 'spend_cap_near', subject, message, link: '/dashboard/cost' },
          clock(),
        );
      }
    });
