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
  'an entry is of a transaction and of an account': sql<Broken>`
    select e.id::text as what, 'transaction ' || e.transaction_id || ', account ' || e.account_id as found from ledger_entries e
    where not exists (select from ledger_transactions t where t.id = e.transaction_id)
      or not exists (select from ledger_accounts a where a.id = e.account_id)`,
  'a paid top-up is in the ledger': sql<Broken>`
    select checkout_id as what, 'no entry' as found from top_ups t where status = 'paid' and not exists (
      select from ledger_transactions l join ledger_entries e on e.transaction_id = l.id
      where l.idempotency_key = 'top-up:' || t.checkout_id and e.amount = t.amount_cents * 10000)`,
  'vouchers sum to what their session has spent': sql<Broken>`
    select s.id as what, s.spent || '/' || s.pending || ' instead of ' || v.spent || '/' || v.pending as found
    from payment_sessions s cross join lateral (
      select coalesce(sum(units) filter (where status <> 'refunded'), 0) as spent,
        coalesce(sum(units) filter (where status = 'pending'), 0) as pending
      from payment_vouchers where session_id = s.id) v
    where s.spent <> v.spent or s.pending <> v.pending`,
  'an open session holds its deposit less what is settled': sql<Broken>`
    select s.id as what, h.remaining || ' instead of ' || s.deposit - settled as found
    from payment_sessions s join ledger_holds h on h.id = s.hold_id cross join lateral (
      select coalesce(sum(units), 0) as settled from payment_settlements where session_id = s.id) t
    where not s.closing and h.remaining <> s.deposit - settled`,
  'a closed session holds nothing and has settled what it spent': sql<Broken>`
    select s.id as what, h.remaining || ' held, ' || settled || ' of ' || s.spent || ' settled' as found
    from payment_sessions s join ledger_holds h on h.id = s.hold_id cross join lateral (
      select coalesce(sum(units), 0) as settled from payment_settlements where session_id = s.id) t
    where s.status = 'closed' and (h.remaining <> 0 or settled <> s.spent)`,
  'a plugin call by card is in the ledger when it is paid, and holds its money while it is not': sql<Broken>`
    select c.id as what, c.status || ', ' || posted || ' posted, ' || held || ' held of ' || c.units as found
    from card_payments c cross join lateral (
      select coalesce(sum(e.amount) filter (where e.amount > 0), 0) as posted
      from jsonb_array_elements(c.parts) part
      join ledger_transactions t on t.idempotency_key = 'card:' || c.id || ':' || (part ->> 'account')
      join ledger_entries e on e.transaction_id = t.id) p cross join lateral (
      select coalesce(sum(h.remaining), 0) as held
      from jsonb_array_elements(c.parts) part join ledger_holds h on h.id = (part ->> 'hold')::bigint) h
    where posted <> case c.status when 'paid' then c.units else 0 end
      or held <> case c.status when 'held' then c.units else 0 end`,
  'a call over HTTP 402 is booked when it is settled, and only then': sql<Broken>`
    select g.id as what, g.status || ' with ' || posted || ' postings' as found from gateway_payments g cross join lateral (
      select count(*) as posted from ledger_transactions where idempotency_key = '402:' || g.id) p
    where (g.status in ('settled', 'refunded')) <> (posted = 1)`,
  'a call over HTTP 402 that was given back is booked so, and no other': sql<Broken>`
    select g.id as what, g.status || ' with ' || posted || ' refunds' as found from gateway_payments g cross join lateral (
      select count(*) as posted from ledger_transactions where idempotency_key = '402-refund:' || g.id) p
    where (g.status = 'refunded') <> (posted = 1)`,
  'a payment of an agent that is in the ledger is marked as paid': sql<Broken>`
    select p.id as what, p.status as found from agent_payments p
    join ledger_transactions t on t.idempotency_key = 'agent-payment:' || p.id where p.status <> 'paid'`,
  'tickets sum to what is sold, and are paid': sql<Broken>`
    select e.id::text as what, e.sold || ' sold of ' || e.total_tickets || ', ' || t.sold || ' tickets' as found
    from underground_events e cross join lateral (
      select coalesce(sum(quantity), 0) as sold from underground_tickets where event_id = e.id) t
    where e.sold <> t.sold or e.sold > e.total_tickets`,
  'the parts of a split sum to it': sql<Broken>`
    select s.id as what, parts || ' of ' || s.units as found from splits s cross join lateral (
      select coalesce(sum(units), 0) as parts from split_parts where split_id = s.id) p where parts <> s.units`,
  'what is owed is what splits and payments have not paid out': sql<Broken>`
    select account as what, sum(kept) || ' instead of ' || sum(open) as found from (
      select id as account, balance as kept, 0 as open from ledger_accounts where id like 'owed:%'
      union all select 'owed:' || lower(address), 0, units from split_parts where status <> 'paid'
      union all select 'owed:' || case when address like '0x%' then lower(address) else address end, 0, units
        from payouts where status in ('owed', 'sent')) o
    group by account having sum(kept) <> sum(open)`,
  'what is on its way on-chain belongs to unfinished settlements': sql<Broken>`
    select 'chain:settling' as what, kept || ' instead of ' || open as found from
      (select coalesce(sum(balance), 0) as kept from ledger_accounts where id = 'chain:settling') a,
      (select coalesce(sum(units), 0) as open from payment_settlements where status <> 'done') b
    where kept <> open`,
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
