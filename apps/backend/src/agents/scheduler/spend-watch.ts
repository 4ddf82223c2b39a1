import { raiseNotice } from '@troupe/accounts';
import type { Database } from '@troupe/db';
import type { Clock } from '@troupe/kernel';
import { nearCaps } from './spend-watch-store.ts';

const NEAR = 0.8;
const USD = 1_000_000;

const WHOSE = { user: 'your agents', agent: 'the agent', run: 'a run', team: 'the team' } as const;

/** Tells owners, once in each window, that a spend cap is nearly used up. Called again and again. */
export const createSpendWatch =
  ({ db, clock }: { db: Database; clock: Clock }) =>
  (): Promise<void> =>
    db.asSystem(async (tx) => {
      for (const { user_id, scope, subject, agent, used, limit_micros } of await nearCaps(tx, NEAR, clock())) {
        const spent = `${(Number(used) / USD).toFixed(2)} of ${(Number(limit_micros) / USD).toFixed(2)} USD`;
        const message = `The spend cap of ${WHOSE[scope]}${agent ? ` ${agent}` : ''} is nearly used up: ${spent}`;
        await raiseNotice(
          tx,
          { userId: user_id, kind: 'spend_cap_near', subject, message, link: '/dashboard/cost' },
          clock(),
        );
      }
    });
