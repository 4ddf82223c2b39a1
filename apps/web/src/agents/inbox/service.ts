import { gateway, type InboxItem, type WaitingPayment } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { createFairQueue, type BackendClient, type Log, type User } from '@troupe/kernel';
import { formatAmount } from '@troupe/domain';
import { USD_DECIMALS } from '@troupe/ledger';
import { agentsElsewhere } from '@troupe/roster';
import { readPayments, readVisitors, readWaiting } from './store.ts';

export interface InboxDeps {
  db: Database;
  backend: BackendClient;
  log: Log;
}

export type InboxService = ReturnType<typeof createInbox>;

const SHOWN = 100;
/** Anybody can be a visitor: they leave room for what else waits. */
const VISITORS_SHOWN = 30;
const PAYMENTS_SHOWN = 50;
/** Agents in containers are asked themselves: so many, and none for long. */
const ASKED = 40;
const ASK_MS = 2000;
/** Somebody's inbox may be large: each is read once at a time, and all together leave the database to others. */
const READ = { width: 4, perKey: 1, waiting: 1000, waitingPerKey: 20 };

const byAge = (a: InboxItem, b: InboxItem): number => a.at.localeCompare(b.at);

/** What waits for a person, over all of their agents. */
export function createInbox({ db, backend, log }: InboxDeps) {
  const reading = createFairQueue(READ);

  async function ask(user: User, { id: agentId, name }: { id: string; name: string }, address: string) {
    try {
      const { approvals } = await backend
        .as(user, address)
        .call(gateway.conversations.listApprovals, { params: { agentId }, timeout: ASK_MS });
      return approvals.map(({ approvalId, sessionId, tool, args, question, requestedAt }): InboxItem => {
        const about = { id: approvalId, agentId, agentName: name, at: requestedAt };
        return { kind: 'approval', ...about, sessionId, tool, args, ...(question && { question }) };
      });
    } catch (error) {
      log.debug({ err: error, agentId }, 'an agent could not be asked what waits');
      return [];
    }
  }

  return {
    async read(user: User, address: string) {
      const here = await reading.run(user.id, () => readWaiting(db.user(user.id), SHOWN + 1));
      const others = await agentsElsewhere(db.user(user.id), ASKED);
      const there = (await Promise.all(others.map((agent) => ask(user, agent, address)))).flat();
      const visitors = await readVisitors(db.user(user.id), SHOWN + 1);
      const calls = [...here.map((call): InboxItem => ({ kind: 'approval', ...call })), ...there].sort(byAge);
      const shown = calls.slice(0, SHOWN - Math.min(visitors.length, VISITORS_SHOWN));
      const beside = visitors.slice(0, SHOWN - shown.length);
      const items = [...shown, ...beside.map((visitor): InboxItem => ({ kind: 'visitor', ...visitor }))].sort(byAge);
      const asked = await readPayments(db.user(user.id), PAYMENTS_SHOWN + 1);
      const payments = asked
        .slice(0, PAYMENTS_SHOWN)
        .map(({ units, ...rest }): WaitingPayment => ({ ...rest, amount: formatAmount(units, USD_DECIMALS) }));
      const hasMore = items.length < calls.length + visitors.length || payments.length < asked.length;
      return { items, payments, hasMore };
    },
  };
}
