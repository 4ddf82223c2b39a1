import type { SystemTx } from '@troupe/db';
import { sql } from 'kysely';

/** What must be true of every ledger, each as the query that finds what breaks it. */
const INVARIANTS = {
  'every transaction balances for each asset': sql<Broken>`
    select e.transaction_id::text as what, sum(e.amount)::text as found from ledger_entries e
    join ledger_accounts a on a.id = e.account_id group by e.transaction_id, a.asset having sum(e.amount) <> 0`,
  'all accounts of an asset sum to zero': sql<Broken>`
    select asset as what, sum(balance)::text as found from ledger_accounts group by asset having sum(balance) <> 0`,
  'a balance is the sum of its entries': sql<Broken>`
    select a.id as what, a.balance || ' instead of ' || coalesce(sum(e.amount), 0) as found from ledger_accounts a
    left join ledger_entries e on e.account_id = a.id group by a.id having a.balance <> coalesce(sum(e.amount), 0)`,
  'what is held is the sum of the pending holds': sql<Broken>`
    select a.id as what, a.held || ' instead of ' || coalesce(sum(h.remaining), 0) as found from ledger_accounts a
    left join ledger_holds h on h.account_id = a.id and h.status = 'pending' group by a.id having a.held <> coalesce(sum(h.remaining), 0)`,
  'no account is overdrawn that may not be': sql<Broken>`
    select id as what, (balance - held)::text as found from ledger_accounts where not allow_negative and balance - held < 0`,
  'each entry follows from the one before': sql<Broken>`
    select id::text as what, balance_after || ' after ' || before as found from (
      select id, amount, balance_after, coalesce(lag(balance_after) over (partition by account_id order by id), 0) as before
      from ledger_entries) e where balance_after <> before + amount`,
  'a transaction has entries': sql<Broken>`
    select t.id::text as what, 'no entries' as found from ledger_transactions t
    where not exists (select from ledger_entries e where e.transaction_id = t.id)`,
};

interface Broken {
  what: string;
  found: string;
}

export interface Verdict {
  invariant: string;
  broken: Broken[];
}

export async function verifyLedger(tx: SystemTx): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const [invariant, query] of Object.entries(INVARIANTS))
    verdicts.push({ invariant, broken: (await query.execute(tx)).rows });
  return verdicts;
}
