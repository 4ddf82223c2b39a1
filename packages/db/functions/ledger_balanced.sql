-- early
-- The entries of a transaction, all added by one statement, sum to zero for each asset, and their transaction and accounts
-- are there: none of them is ever taken away, so no reference has to look for each.
create or replace function ledger_balanced() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  if exists (
    select from added e
      left join ledger_accounts a on a.id = e.account_id left join ledger_transactions t on t.id = e.transaction_id
    group by e.transaction_id, a.asset having sum(e.amount) <> 0 or a.asset is null or count(t.id) < count(*)
  ) then
    raise exception 'ledger transaction % is not balanced', (select min(transaction_id) from added) using errcode = 'LG001';
  end if;
  return null;
end $$;
